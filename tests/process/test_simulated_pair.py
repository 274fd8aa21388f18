"""The real coordinator, drafter and verifier, joined by real sockets; only the forward passes are sleeps."""

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from specpipe.client.asking import Options, ask_ids
from specpipe.client.client import Client
from specpipe.errors import WorkerError
from specpipe.supervisor.events import Event, Ready
from specpipe.supervisor.supervisor import Supervisor
from specpipe.words.messages import Delta
from tests.process import simulated as sim


@pytest.fixture(scope="module")
def running() -> Iterator[Client]:
    """Give the client of one instance that several tests share."""
    with sim.instance() as (_, client):
        # Connected before the first test, so that no test seems to leave the connection behind.
        client.status()
        yield client


@pytest.mark.parametrize("mode", ["pipelined", "sequential"])
def test_drafting_changes_no_token(running: Client, mode: Any) -> None:
    """The answer is the target's own, however it was drafted; and drafting did take place."""
    drafted = sim.answer(running, mode, 150)

    assert sim.planted(drafted.token_ids)
    assert len(drafted.token_ids) == 150
    assert drafted.finished.stats.accepted_tokens > 0
    assert drafted.finished.stats.passes < 150


def test_the_target_alone_takes_a_pass_a_token(running: Client) -> None:
    """It writes what it always writes, and nothing is drafted for it."""
    alone = sim.answer(running, "target", 50)

    assert sim.planted(alone.token_ids)
    assert (alone.finished.stats.passes, alone.finished.stats.checked_tokens) == (50, 0)


def test_an_answer_that_was_given_up_makes_room(running: Client) -> None:
    """More answers than there are lanes, each left in the middle, and the next is served."""
    for _ in range(6):
        answers = running.ask(ask_ids(sim.PROMPT, Options(max_tokens=10_000, ignore_eos=True)))
        next(answers)
        answers.close()

    assert len(sim.answer(running, "pipelined", 20).token_ids) == 20
    assert running.status().open_requests == 0


def _killing(instance: Supervisor, client: Client, role: Any, after: int) -> list[int]:
    """Read an answer and kill a role when `after` tokens have come."""
    tokens: list[int] = []
    killed = False
    options = Options(max_tokens=300, seed=1, ignore_eos=True)
    for each in client.ask(ask_ids(sim.PROMPT, options)):
        tokens += each.tokens.tolist() if isinstance(each, Delta) else []
        if len(tokens) >= after and not killed:
            killed = True
            os.kill(instance.pids[role], signal.SIGKILL)
    return tokens


def _await_ready(instance: Supervisor, events: list[Event], role: Any, times: int) -> None:
    """Wait until a role has been ready so often."""
    deadline = time.monotonic() + 60
    while sum(isinstance(event, Ready) and event.role == role for event in events) < times:
        assert time.monotonic() < deadline
        instance.wait(0.05)


@pytest.mark.parametrize("role", ["drafter", "verifier"])
def test_an_answer_survives_its_workers(role: Any) -> None:
    """Killed in the middle, a worker is replaced, and not one token is different."""
    events: list[Event] = []
    with sim.instance(events) as (instance, client):
        survived = _killing(instance, client, role, 40)
        _await_ready(instance, events, role, 2)
        again = sim.answer(client, "pipelined", 300)

    assert len(survived) == 300
    assert sim.planted(survived)
    assert sim.planted(again.token_ids)
    assert again.finished.stats.accepted_tokens > 0


def test_the_death_of_the_coordinator_is_told_by_its_cause() -> None:
    """The answer ends in an error that says who died of what, and nothing is left."""
    with sim.instance() as (instance, client), pytest.raises(WorkerError, match=r"^the coordinator died: .* signal 9"):
        _fail(instance, client, "coordinator")


def _fail(instance: Supervisor, client: Client, role: str) -> None:
    """Kill a role in the middle of an answer, and stay for what the supervisor says of it."""
    try:
        _killing(instance, client, role, 10)
    finally:
        instance.wait(sim.WITHIN_S)


def test_the_trace_shows_steps_inside_passes(tmp_path: Path) -> None:
    """On one clock, many drafter steps lie wholly within verifier passes."""
    trace = tmp_path / "trace.json"
    with sim.instance(trace=trace) as (_, client):
        sim.answer(client, "pipelined", 100)
    events = json.loads(trace.read_text("utf-8"))["traceEvents"]
    names = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
    spans: dict[str, list[tuple[float, float]]] = {"drafter": [], "verifier": []}
    for event in events:
        if event["ph"] == "X" and names[event["pid"]] in spans:
            spans[names[event["pid"]]].append((event["ts"], event["ts"] + event["dur"]))
    inside = [s for s in spans["drafter"] if any(p[0] <= s[0] and s[1] <= p[1] for p in spans["verifier"])]

    assert set(names.values()) == {"coordinator", "drafter", "verifier"}
    assert len(inside) > 5
