"""Clients that leave, change their minds, or never read: others do not notice, and nothing is kept for them."""

import random
import time
from collections.abc import Iterator

import psutil
import pytest
import zmq
from msgspec.structs import replace

from specpipe.client.answers import Answers
from specpipe.client.asking import Options, ask_ids
from specpipe.client.client import Client
from specpipe.supervisor.machine import survey
from specpipe.supervisor.supervisor import Supervisor
from specpipe.words.messages import Failed
from tests.faults.conftest import PROMPTS, Served
from tests.faults.stranger import addresses, asking, comes_true, connected
from tests.process import simulated as sim

AT_ONCE = 8
LONGEST_S = 0.05
MOST_GROWTH = 32 << 20


def test_hundreds_of_requests_cancelled_at_any_moment(served: Served) -> None:
    """Before, in and after their answers; then requests are answered as ever (case D15)."""
    chance = random.Random(3)
    client = served.instance.client
    for _ in range(30):
        started = [
            (chance.uniform(0, LONGEST_S), client.ask(ask_ids(chance.choice(PROMPTS), _options(chance))))
            for _ in range(AT_ONCE)
        ]
        began = time.monotonic()
        for moment, answers in sorted(started, key=lambda pair: pair[0]):
            time.sleep(max(0.0, began + moment - time.monotonic()))
            _leave(answers, chance)

    assert served.is_well()
    assert client.status().open_requests == 0
    assert {worker.ready for worker in client.status().workers} == {True}


def _options(chance: random.Random) -> Options:
    mode = chance.choice(["pipelined", "sequential", "target"])
    return Options(mode=mode, max_tokens=chance.choice([1, 5, 300]), temperature=chance.choice([0.0, 1.0]))  # type: ignore[arg-type]


def _leave(answers: Answers, chance: random.Random) -> None:
    """Go away, some without having read anything."""
    if chance.random() < 0.5:
        next(answers)
    answers.close()


def test_a_client_that_vanishes_gives_its_lanes_back(served: Served) -> None:
    """One that hangs up without a word, in the middle of more answers than there are lanes."""
    client = served.instance.client
    for _ in range(3):
        with connected(addresses(served.instance)["clients"], zmq.DEALER) as stranger:
            for key in range(6):
                stranger.send_multipart(asking(key=key, max_tokens=1000, ignore_eos=True))
            stranger.recv_multipart()

    assert served.is_well(1)
    assert comes_true(lambda: client.status().open_requests == 0)


def test_a_queue_that_is_full_says_so(served: Served) -> None:
    """Whoever asks for more than may wait is told to come again; nobody else is turned away."""
    with Client(served.instance.supervisor.clients_address) as greedy:
        waiting = served.instance.supervisor.settings.engine.waiting
        lanes = served.instance.supervisor.settings.engine.requests
        ask = ask_ids([5], Options(max_tokens=2000, ignore_eos=True))
        answers = [greedy.ask(ask) for _ in range(waiting + lanes + 1)]
        last = next(answers[-1])

    assert isinstance(last, Failed)
    assert last.kind == "busy"
    assert served.is_well()


@pytest.fixture(scope="module")
def quick() -> Iterator[tuple[Supervisor, Client]]:
    """An instance of simulated devices that take no time at all."""
    devices = replace(sim.SETTINGS.simulated, draft_ms=0.0, target_ms=0.0)
    supervisor = Supervisor(replace(sim.SETTINGS, simulated=devices), survey(0))
    with supervisor, Client(supervisor.clients_address, check=supervisor.check) as client:
        client.status()
        yield supervisor, client


def test_a_client_that_never_reads_is_given_up(quick: tuple[Supervisor, Client]) -> None:
    """What waits for it is bounded, its requests end, and a client beside it is served all along (case D14)."""
    supervisor, client = quick
    coordinator = psutil.Process(supervisor.pids["coordinator"])
    sim.answer(client, "target", 50)
    before = coordinator.memory_info().rss
    with connected(supervisor.clients_address, zmq.DEALER, high_water=1) as deaf:
        for key in range(2):
            deaf.send_multipart(asking(key=key, max_tokens=0, ignore_eos=True))
        comes_true(lambda: client.status().open_requests == 2)
        while client.status().open_requests:
            assert len(sim.answer(client, "target", 100).token_ids) == 100

        assert client.status().failed_requests == 2
        assert coordinator.memory_info().rss - before < MOST_GROWTH
    assert len(sim.answer(client, "pipelined", 50).token_ids) == 50
