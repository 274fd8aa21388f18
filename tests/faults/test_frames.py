"""What no process of ours would send is dropped and counted, and service goes on (case F03)."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
import zmq

from specpipe.client.answers import Answer
from specpipe.client.asking import Options, ask_ids
from specpipe.words.messages import (
    PROTOCOL,
    Cancel,
    Delta,
    Edges,
    Finished,
    Gone,
    Halt,
    Hello,
    Resync,
    Steps,
    Unserved,
    Verdict,
)
from specpipe.words.messages.codec import encode
from specpipe.words.messages.fields import Role
from specpipe.words.prefix import child, extend, origin
from tests.faults.conftest import Served
from tests.faults.stranger import GARBAGE, NOISE, addresses, comes_true, connected, make_noise
from tests.minds.messages import pulse

SOCKETS = {"control": zmq.DEALER, "clients": zmq.DEALER, "edges": zmq.PUSH}
PROMPT = [5, 6, 7]
LONG = Options(max_tokens=300, ignore_eos=True)
NUMBERS = range(1, 400)


@pytest.mark.parametrize("name", SOCKETS)
def test_garbage_is_dropped_and_counted(served: Served, name: str) -> None:
    """Each piece once, wherever it came in, and the count is in the status."""
    client = served.instance.client
    before = client.status().dropped_frames
    with connected(addresses(served.instance)[name], SOCKETS[name]) as stranger:
        for frames in GARBAGE.values():
            stranger.send_multipart(frames)

    assert comes_true(lambda: client.status().dropped_frames >= before + len(GARBAGE))
    assert served.is_well()
    assert client.status().dropped_frames == before + len(GARBAGE)


def test_whoever_talks_where_verdicts_are_told_is_not_heard(served: Served) -> None:
    """Subscribing to nonsense, and sending it, disturbs nobody."""
    with connected(addresses(served.instance)["verdicts"], zmq.XSUB) as stranger:
        stranger.send(b"\1")
        for frames in GARBAGE.values():
            stranger.send_multipart(frames)

        assert served.is_well()
        assert stranger.recv_multipart()[0].startswith(b"\x93\x01\xa7verdict")


@pytest.mark.parametrize("name", ["control", "clients", "edges", "verdicts"])
def test_bytes_that_are_no_zeromq_disturb_nobody(served: Served, name: str) -> None:
    """Whoever connects and does not shake hands is hung up on."""
    for noise in NOISE:
        make_noise(addresses(served.instance)[name], noise)

    assert served.is_well()


def ended(answers: Iterator[Answer]) -> tuple[list[int], Finished]:
    """Read an answer that has begun to its end; return its tokens, and how it ended."""
    *deltas, last = answers
    assert isinstance(last, Finished)
    return [token for delta in deltas if isinstance(delta, Delta) for token in delta.tokens.tolist()], last


def rest_of(answers: Iterator[Answer]) -> list[int]:
    """Return the tokens of an answer that has begun."""
    return ended(answers)[0]


def verdict(request: int) -> Verdict:
    """Return a verdict that would end the request with two tokens."""
    moments: dict[str, Any] = {"began": 1.0, "ended": 2.0}
    counts: dict[str, Any] = {"life": 0, "start": 0, "checked": 1, "chain": 1, "right": 1}
    arrays: dict[str, Any] = {"tokens": np.array([7, 7]), "log_p": np.zeros(2, np.float32)}
    return Verdict(request=request, hit=True, finish="stop", **moments, **counts, **arrays)


def hello(role: Role) -> Hello:
    """Return what a worker says first."""
    words: dict[str, Any] = {"model": "mine", "fingerprint": "", "device": "cpu", "dtype": "float32"}
    counts: dict[str, Any] = {"protocol": PROTOCOL, "pid": 1, "vocabulary": 9, "context": 9, "lanes": 9, "threads": 1}
    return Hello(role=role, edges="ipc:///nowhere", verdicts="ipc:///nowhere", **words, **counts)


def guesses(request: int, parents: Sequence[int], token: int) -> Edges:
    """Return the same guess after each of the prefixes, as sure as can be."""
    count = len(parents)
    return Edges(
        request=request,
        steps=1 << 31,
        step_s=1e12,
        parents=np.array(parents, np.uint64),
        tokens=np.full(count, token, np.int32),
        log_q=np.full(count, np.inf, np.float32),
        chances=np.full(count, 1e30, np.float32),
    )


@pytest.fixture(scope="module")
def undisturbed(served: Served) -> list[int]:
    """The long answer, when nobody meddles."""
    return served.instance.tell(PROMPT, LONG).tokens


def test_another_workers_words_change_no_answer(served: Served, undisturbed: list[int]) -> None:
    """Verdicts, faults, beats and steps count from the workers themselves only, in the middle of an answer too.

    So do deaths and the end from the supervisor.
    """
    pid = served.instance.supervisor.pids["verifier"]
    answers = served.instance.start(PROMPT, LONG)
    next(answers)
    with connected(addresses(served.instance)["control"], zmq.DEALER) as stranger:
        for number in NUMBERS:
            stranger.send_multipart(encode(verdict(number)))
            stranger.send_multipart(encode(Unserved(request=number, reason="so there")))
        stranger.send_multipart(
            encode(pulse("verifier", dict.fromkeys(NUMBERS, (0, 1 << 30)), counter=1 << 31, dropped=1 << 31))
        )
        stranger.send_multipart(encode(Gone(role="verifier", pid=pid, final=True, reason="", secret="")))
        stranger.send_multipart(encode(Halt(secret="")))
        stranger.send_multipart(encode(Steps(edges=5, began=np.zeros(3), ended=np.ones(3))))

    assert rest_of(answers) == undisturbed
    assert served.is_well()
    assert served.instance.client.status().dropped_frames < 1 << 20


@pytest.mark.parametrize("role", ["verifier", "drafter"])
def test_an_impostor_is_sent_home(served: Served, undisturbed: list[int], role: Role) -> None:
    """While a worker gives signs of life, nobody takes its place; open requests stay where they are."""
    answers = served.instance.start(PROMPT, LONG)
    next(answers)
    with connected(addresses(served.instance)["control"], zmq.DEALER) as stranger:
        stranger.send_multipart(encode(hello(role)))
        reply = stranger.recv_multipart()

        assert reply[0].startswith(b"\x93\x01\xa4stop")
        assert rest_of(answers) == undisturbed
        assert served.is_well()
    workers = {worker.role: worker.pid for worker in served.instance.client.status().workers}
    assert workers == {name: pid for name, pid in served.instance.supervisor.pids.items() if name != "coordinator"}


def test_edges_of_no_open_request_are_of_no_use_to_anyone(served: Served) -> None:
    """Of requests that ended, or never were."""
    with connected(addresses(served.instance)["edges"], zmq.PUSH) as stranger:
        for number in [*NUMBERS, 1 << 62]:
            stranger.send_multipart(encode(guesses(number, [origin(number)], 3)))
            stranger.send_multipart(encode(Resync(request=number, start=0)))
            stranger.send_multipart(encode(Resync(request=number, start=1 << 31)))

        assert served.is_well()


@pytest.mark.parametrize("token", [3, 511, 512, 2**31 - 1])
def test_false_guesses_cost_time_and_nothing_else(served: Served, undisturbed: list[int], token: int) -> None:
    """Guesses at every place of the answer that claim to be certain, of tokens that the target does not have, too."""
    client = served.instance.client
    answers = served.instance.start(PROMPT, LONG)
    next(answers)
    status = client.status()
    latest = status.finished_requests + status.failed_requests + status.open_requests
    with connected(addresses(served.instance)["edges"], zmq.PUSH) as stranger:
        for number in range(latest, latest + 3):
            prefix = extend(origin(number), PROMPT)
            places = [prefix := child(prefix, each) for each in undisturbed]
            stranger.send_multipart(encode(guesses(number, places, token)))
        told, finished = ended(answers)

    assert told == undisturbed
    assert finished.stats.checked_tokens > 2 * finished.stats.accepted_tokens, "the false guesses were looked at"
    assert served.is_well(1)


def test_a_stranger_may_not_cancel_for_others(served: Served, undisturbed: list[int]) -> None:
    """A key is a client's own name for its request."""
    answers = served.instance.start(PROMPT, LONG)
    next(answers)
    with connected(addresses(served.instance)["clients"], zmq.DEALER) as stranger:
        for key in NUMBERS:
            stranger.send_multipart(encode(Cancel(key=key)))

        assert rest_of(answers) == undisturbed


def test_one_key_twice_is_two_requests(served: Served, undisturbed: list[int]) -> None:
    """Two clients, and even one alone, may use a key again while it is in use (case D17)."""
    client = served.instance.client
    before = client.status().finished_requests
    ask = encode(ask_ids(PROMPT, LONG))
    with (
        connected(addresses(served.instance)["clients"], zmq.DEALER) as one,
        connected(addresses(served.instance)["clients"], zmq.DEALER) as other,
    ):
        for stranger in (one, one, other):
            stranger.send_multipart(ask)
        told = served.instance.tell(PROMPT, LONG).tokens

        assert comes_true(lambda: client.status().finished_requests == before + 4)
    assert told == undisturbed
    assert served.is_well()
