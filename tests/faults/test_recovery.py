"""Whoever dies or hangs: every request ends once, with the tokens that it would have had anyway."""

import random
import signal
from pathlib import Path

import psutil
import pytest

from specpipe.client.asking import Options
from specpipe.errors import PeerError, WorkerError
from specpipe.settings import RecoverySettings
from specpipe.supervisor.events import Event, Restarting
from specpipe.words.messages import Failed, Finished
from tests.faults.chaos import REQUESTS, SILENCE_S, in_turns, instance, models, same, strike, undisturbed, workers
from tests.faults.stranger import comes_true
from tests.process.instances import Running, Told, gather

PATIENT = RecoverySettings(restarts=100, window_s=0.5, first_s=0.05, silence_s=0.0)
SEQUENTIAL = Options(mode="sequential", max_tokens=30, ignore_eos=True)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A target and a noised copy of it."""
    return models(tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="module")
def expected(folders: tuple[Path, Path]) -> list[Told]:
    """What the target alone answers to each of the requests."""
    return undisturbed(folders[0])


def disturbed(served: Running, moments: list[int], roles: tuple[str, ...], number: signal.Signals) -> list[Told]:
    """Have all requests answered at the same time, more than there are lanes, and strike when so many tokens came."""
    due = sorted(moments)

    def disturb(tokens: int) -> None:
        if due and tokens >= due[0] and all(workers(served, role) for role in roles):
            due.pop(0)
            for role in roles:
                strike(served, role, number)

    messages = in_turns([served.start(*request) for request in REQUESTS], disturb)
    assert due == []
    return [gather(iter(each)) for each in messages]


@pytest.mark.timeout(240)
@pytest.mark.parametrize("roles", [("verifier",), ("drafter",), ("verifier", "drafter")], ids="+".join)
def test_killed_workers_change_no_answer(
    folders: tuple[Path, Path], expected: list[Told], roles: tuple[str, ...]
) -> None:
    """At random moments of greedy, sampled, sequential, undrafted and short answers; then drafts are of use again."""
    chance = random.Random("+".join(roles))
    with instance(folders, PATIENT) as served:
        told = disturbed(served, [chance.randrange(1, 1800) for _ in range(3)], roles, signal.SIGKILL)

        assert [same(*each) for each in zip(told, expected, strict=True)] == [True] * len(REQUESTS)
        assert comes_true(lambda: served.tell("the day", SEQUENTIAL).stats.accepted_tokens > 0)
        assert served.client.status().open_requests == 0


@pytest.mark.timeout(240)
@pytest.mark.parametrize("role", ["verifier", "drafter"])
def test_a_worker_that_hangs_is_replaced(folders: tuple[Path, Path], expected: list[Told], role: str) -> None:
    """Stopped in the middle, it gives no sign of life, so that it is killed; the answers are the same."""
    events: list[Event] = []
    with instance(folders, RecoverySettings(silence_s=SILENCE_S), events) as served:
        told = disturbed(served, [300], (role,), signal.SIGSTOP)

        assert [same(*each) for each in zip(told, expected, strict=True)] == [True] * len(REQUESTS)
        assert comes_true(lambda: served.tell("the day", SEQUENTIAL).stats.accepted_tokens > 0)
    ends = [(event.role, event.reason) for event in events if isinstance(event, Restarting)]
    assert ends == [(role, f"it gave no sign of life for {SILENCE_S:g} s")]


def test_a_verifier_beyond_its_budget_fails_every_request_once(folders: tuple[Path, Path]) -> None:
    """Those that run and those that wait, in one plain sentence; the instance ends with 70 (cases D04, F11)."""
    with pytest.raises(WorkerError, match=r"^the verifier died: .* signal 9") as caught:
        _give_up(folders)

    assert caught.value.exit_code == 70


def _give_up(folders: tuple[Path, Path]) -> None:
    with instance(folders, RecoverySettings(restarts=0)) as served:
        started = [served.start([5, 6, number], Options(max_tokens=0, ignore_eos=True)) for number in range(6)]
        next(started[0])
        strike(served, "verifier", signal.SIGKILL)
        messages = in_turns(started, lambda _: None)
        ends = [each for answer in messages for each in answer if isinstance(each, Finished | Failed)]

        assert len(ends) == 6
        assert {(type(end), getattr(end, "reason", "")) for end in ends} == {
            (Failed, "the engine could not go on with this request; its log says why")
        }
        served.supervisor.wait(5.0)


def test_the_death_of_the_coordinator_ends_every_answer_and_leaves_nobody(folders: tuple[Path, Path]) -> None:
    """Whoever reads on gets one error, whoever lives is ended."""
    left: list[psutil.Process] = []
    with pytest.raises(WorkerError, match=r"^the coordinator died"):
        _lose_the_coordinator(folders, left)

    assert not any(process.is_running() for process in left)


def _lose_the_coordinator(folders: tuple[Path, Path], left: list[psutil.Process]) -> None:
    with instance(folders, PATIENT) as served:
        left += [psutil.Process(pid) for pid in served.supervisor.pids.values()]
        answers = served.start("the day", Options(max_tokens=0, ignore_eos=True))
        next(answers)
        strike(served, "coordinator", signal.SIGKILL)
        with pytest.raises((WorkerError, PeerError)):
            list(answers)
        with pytest.raises(StopIteration):
            next(answers)
        served.supervisor.wait(5.0)
