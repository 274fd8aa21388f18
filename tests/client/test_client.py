"""A client and a coordinator in one process: each test plays the coordinator by hand."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from specpipe.client.asking import Options, ask_text
from specpipe.client.client import Client
from specpipe.errors import PeerError, RequestError, WorkerError
from specpipe.links.control import ControlHub
from specpipe.links.sockets import Sockets
from specpipe.links.wait import wait
from specpipe.words.messages import (
    TO_COORDINATOR,
    Ask,
    Cancel,
    Delta,
    Failed,
    Finished,
    Look,
    Message,
    Started,
    Stats,
    Status,
)

ASK = ask_text("Once", Options())


class Coordinator:
    """The other end: takes messages one by one, and answers the one who sent the last."""

    def __init__(self, hub: ControlHub) -> None:
        self._hub = hub
        self._peer = b""
        self._waiting: list[tuple[bytes, Message]] = []

    @property
    def address(self) -> str:
        """Where the client connects."""
        return self._hub.address

    def take(self) -> Any:
        """Return the next message, whatever it is."""
        while not self._waiting:
            wait([self._hub], 10.0)
            self._waiting = self._hub.receive()
        self._peer, message = self._waiting.pop(0)
        return message

    def send(self, *messages: Message) -> None:
        """Answer."""
        for message in messages:
            assert self._hub.send(self._peer, message)


@pytest.fixture
def coordinator(tmp_path: Path) -> Iterator[Coordinator]:
    """Give a coordinator that listens."""
    with Sockets() as sockets:
        yield Coordinator(ControlHub(sockets, f"ipc://{tmp_path}/c", TO_COORDINATOR))


def _delta(key: int, text: str) -> Delta:
    return Delta(key=key, text=text, tokens=np.array([1], np.int32), log_p=np.array([-0.5], np.float32))


def _finished(key: int) -> Finished:
    return Finished(
        key=key, finish_reason="stop", seed=7, prompt_tokens=1, completion_tokens=1, stats=Stats(tokens_per_second=2.0)
    )


def _status() -> Status:
    counts: dict[str, Any] = dict.fromkeys(Status.__struct_fields__, 0)
    return Status(**(counts | {"version": "1", "serving": True, "workers": ()}))


def test_an_answer_arrives_whole_and_ends(coordinator: Coordinator) -> None:
    """The iterator ends with the terminal message, and nothing is cancelled."""
    with Client(coordinator.address) as client:
        answers = client.ask(ASK)
        key = coordinator.take().key
        coordinator.send(Started(key=key, seed=7, prompt_tokens=1), _delta(key, "a"), _delta(key, "b"), _finished(key))
        kinds = [type(answer) for answer in answers]
        client.cancel(99)

        assert kinds == [Started, Delta, Delta, Finished]
        assert coordinator.take().key == 99


def test_answers_may_be_read_in_turns(coordinator: Coordinator) -> None:
    """What arrives for one request while another is read is kept for it."""
    with Client(coordinator.address) as client:
        first, second = client.ask(ASK), client.ask(ASK)
        one, two = coordinator.take().key, coordinator.take().key
        coordinator.send(_delta(one, "1"), _finished(one), _delta(two, "2"), _finished(two))

        late = [answer.text for answer in second if isinstance(answer, Delta)]
        early = [answer.text for answer in first if isinstance(answer, Delta)]

    assert (early, late) == (["1"], ["2"])


def test_who_stops_reading_cancels(coordinator: Coordinator) -> None:
    """Closing the iterator in the middle of an answer tells the coordinator."""
    with Client(coordinator.address) as client:
        answers = client.ask(ASK)
        key = coordinator.take().key
        coordinator.send(_delta(key, "a"))
        next(answers)
        answers.close()
        cancelled = coordinator.take()

        assert isinstance(cancelled, Cancel)
        assert cancelled.key == key


@pytest.mark.parametrize("leave", ["closed", "dropped"])
def test_answers_that_nobody_began_to_read_are_cancelled(coordinator: Coordinator, leave: str) -> None:
    """Whoever leaves before the first answer leaves no request behind either, and leaves once."""
    with Client(coordinator.address) as client:
        answers = client.ask(ASK)
        key = coordinator.take().key
        if leave == "closed":
            answers.close()
        del answers

        assert coordinator.take().key == key
        again = client.ask(ASK)
        assert isinstance(coordinator.take(), Ask)
        again.close()


def test_hanging_up_cancels_what_is_open(coordinator: Coordinator) -> None:
    """An answer that nobody began to read is given up as well."""
    client = Client(coordinator.address)
    client.ask(ASK)
    client.close()

    assert [type(coordinator.take()) for _ in range(2)] == [Ask, Cancel]


def test_answers_to_nobody_are_ignored(coordinator: Coordinator) -> None:
    """A late answer to a request that was given up does no harm to the next."""
    with Client(coordinator.address) as client:
        answers = client.ask(ASK)
        key = coordinator.take().key
        coordinator.send(_delta(key + 5, "?"), Failed(key=key, kind="busy", reason="full"))

        assert [type(answer) for answer in answers] == [Failed]


def test_the_status_is_asked_for(coordinator: Coordinator) -> None:
    """A look is answered, also while an answer is under way."""
    with Client(coordinator.address) as client:
        answers = client.ask(ASK)
        key = coordinator.take().key
        coordinator.send(_delta(key, "a"), _status(), _finished(key))

        assert client.status().version == "1"
        assert [type(answer) for answer in answers] == [Delta, Finished]


def test_a_slow_answer_is_waited_for_while_the_coordinator_lives(coordinator: Coordinator) -> None:
    """After some silence the coordinator is looked at; its status is enough to go on waiting."""
    with Client(coordinator.address, silence_s=0.0, patience_s=60) as client:
        answers = client.ask(ASK)
        key = coordinator.take().key
        client._receive()
        looked = coordinator.take()
        coordinator.send(_status(), _finished(key))

        assert isinstance(looked, Look)
        assert [type(answer) for answer in answers] == [Finished]


def test_nobody_there_is_one_sentence(tmp_path: Path) -> None:
    """An address where nobody listens ends in an error with status 69, not in waiting for ever."""
    with Client(f"ipc://{tmp_path}/nobody", silence_s=0.1, patience_s=0.3) as client:
        with pytest.raises(PeerError, match=r"^nobody answers at ipc://.*; is the instance still running\?$") as caught:
            list(client.ask(ASK))

        assert caught.value.exit_code == 69


def test_an_address_that_is_none_is_refused() -> None:
    """The sentence names the address, and no socket stays open."""
    with pytest.raises(PeerError, match="nowhere"):
        Client("nowhere")


def test_a_request_too_long_to_be_sent_is_refused(coordinator: Coordinator) -> None:
    """It is the request's fault, and the next one is served."""
    with Client(coordinator.address) as client:
        with pytest.raises(RequestError, match=r"^this Ask is too long to be sent; shorten the request$"):
            client.ask(ask_text("日" * (1 << 22), Options()))
        answers = client.ask(ASK)
        coordinator.send(_finished(coordinator.take().key))

        assert [type(answer) for answer in answers] == [Finished]


def test_whoever_knows_more_ends_the_waiting(coordinator: Coordinator) -> None:
    """The caller's check comes out of the iterator as it was raised."""

    def check() -> None:
        raise WorkerError("the verifier died")

    with Client(coordinator.address, check=check) as client, pytest.raises(WorkerError, match="verifier died"):
        list(client.ask(ASK))
