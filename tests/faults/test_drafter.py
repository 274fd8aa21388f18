"""A drafter that dies, hangs, or is heard of only in part costs time, never a token."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from specpipe.client.asking import Options
from specpipe.client.client import Client
from specpipe.supervisor.placement import Machine
from specpipe.supervisor.policy import Role
from specpipe.supervisor.supervisor import Supervisor
from specpipe.words.messages import Delta
from tests.faults import stormy
from tests.process.instances import Running, gather, pair, running
from tests.tiny import tiny_llama

GREEDY = Options(max_tokens=200, ignore_eos=True)
SAMPLED = Options(max_tokens=200, ignore_eos=True, temperature=0.8, seed=11)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A target and a noised copy of it."""
    base = tmp_path_factory.mktemp("models")
    target = tiny_llama(base / "target", 1)
    return target, tiny_llama(base / "noised", 2, noise_of=target, scale=0.03)


@pytest.fixture(scope="module")
def alone(folders: tuple[Path, Path]) -> dict[Options, list[int]]:
    """What the target alone writes."""
    with running(pair(folders[0], "none")) as instance:
        return {options: instance.tell("the day", options).tokens for options in (GREEDY, SAMPLED)}


@pytest.mark.parametrize("options", [GREEDY, SAMPLED])
def test_a_drafter_killed_in_the_middle_changes_no_token(
    folders: tuple[Path, Path], alone: dict[Options, list[int]], options: Options
) -> None:
    """The answer goes on at the target's own speed, and the next one too."""
    with running(pair(*folders)) as instance:
        told = gather(killing(instance, instance.start("the day", options)))

        assert told.tokens == alone[options]
        assert instance.tell("the day", options).tokens == alone[options]


def test_a_drafter_that_hangs_is_not_waited_for(folders: tuple[Path, Path], alone: dict[Options, list[int]]) -> None:
    """One that is stopped is passed over, and heard again when it goes on."""
    with running(pair(*folders)) as instance:
        drafter = psutil.Process(instance.supervisor.pids["drafter"])
        drafter.suspend()
        try:
            assert instance.tell("the day", GREEDY).tokens == alone[GREEDY]
        finally:
            drafter.resume()
        told = [instance.tell("the day", replace(GREEDY, mode=mode)) for mode in ("pipelined", "sequential")]

    assert [each.tokens for each in told] == [alone[GREEDY]] * 2
    assert told[-1].stats.accepted_tokens > 0


def test_a_data_link_that_loses_repeats_and_reorders_half_changes_no_token(
    folders: tuple[Path, Path], alone: dict[Options, list[int]]
) -> None:
    """Edges and verdicts in a storm: whether any guess comes through in time or none, the text is the target's."""
    settings = pair(*folders)
    supervisor: Supervisor

    def command(role: Role) -> list[str]:
        words = supervisor._role_command(role)
        module = words.index("-m")
        return [words[0], stormy.__file__, *words[module + 2 :]]

    supervisor = Supervisor(settings, Machine(cores=(0, 1)), command=command)
    with supervisor, Client(supervisor.clients_address, check=supervisor.check) as client:
        instance = Running(supervisor, client)
        told = {options: instance.tell("the day", options) for options in (GREEDY, SAMPLED)}

    assert {options: each.tokens for options, each in told.items()} == alone


def killing(instance: Running, answers: Iterator[object]) -> Iterator[object]:
    """Pass answers on; kill the drafter when forty tokens have come."""
    seen = 0
    for answer in answers:
        yield answer
        before = seen
        seen += len(answer.tokens) if isinstance(answer, Delta) else 0
        if before < 40 <= seen:
            psutil.Process(instance.supervisor.pids["drafter"]).kill()
