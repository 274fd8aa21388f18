"""Waiting ends when there is something to do, at the deadline, or with a signal; never otherwise."""

import fcntl
import os
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from types import FrameType

import pytest

from specpipe.clock import now
from specpipe.links.address import fresh_address
from specpipe.links.control import ControlHub, ControlLine
from specpipe.links.sockets import Sockets
from specpipe.links.wait import wait
from specpipe.links.weather import StormyLink, Weather
from specpipe.words.messages import Close
from tests.links.places import heard, requests

FOREVER = None


class HandledError(Exception):
    """What the signal handler of a test raises."""


@contextmanager
def pipe() -> Iterator[tuple[int, int]]:
    """Yield the reading and the writing end of a pipe."""
    reading, writing = os.pipe()
    try:
        yield reading, writing
    finally:
        os.close(reading)
        os.close(writing)


@contextmanager
def alarm(handler: signal.Handlers | object) -> Iterator[None]:
    """Have SIGALRM come in a moment, handled by `handler`."""
    old = signal.signal(signal.SIGALRM, handler)  # type: ignore[arg-type]
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)


@pytest.fixture
def hub(sockets: Sockets, folder: Path) -> ControlHub:
    """Return a hub over ipc."""
    return ControlHub(sockets, fresh_address("ipc", folder, "c"), [Close])


@pytest.fixture
def line(sockets: Sockets, hub: ControlHub) -> ControlLine:
    """Return a line to the hub."""
    return ControlLine(sockets, hub.address, [Close])


@pytest.mark.parametrize("timeout", [0.0, 0.0004, 0.02])
def test_without_news_it_waits_the_time_out(hub: ControlHub, timeout: float) -> None:
    """Connections and other inner business of a socket are no news, and the deadline is never early."""
    began = now()
    wait([hub], timeout)

    assert now() - began >= timeout
    assert hub.receive() == []


def test_a_negative_timeout_returns_at_once(hub: ControlHub) -> None:
    """A deadline that has passed is no error."""
    wait([hub], -1.0)


def test_a_message_ends_it(hub: ControlHub, line: ControlLine) -> None:
    """It returns when there is something to receive, and not before."""
    line.send(Close(1))
    wait([hub, line], FOREVER)

    assert requests([message for _, message in hub.receive()]) == [1]


def test_a_message_that_was_noticed_but_not_taken_ends_it_again(hub: ControlHub, line: ControlLine) -> None:
    """The descriptor tells of a message only once; the waiter must not rely on it."""
    line.send(Close(1))
    for _ in range(3):
        wait([hub], FOREVER)

    assert hub.patience() == 0.0
    assert len(hub.receive()) == 1


def test_many_messages_one_by_one_are_never_missed(hub: ControlHub, line: ControlLine) -> None:
    """Between taking the last message and blocking again nothing is lost."""
    for request in range(2000):
        line.send(Close(request))
        wait([hub], FOREVER)
        assert requests([message for _, message in hub.receive()]) == [request]


def test_a_readable_descriptor_ends_it(hub: ControlHub) -> None:
    """A byte in a wake-up pipe, or its other end closing, is news."""
    with pipe() as (reading, writing):
        Timer(0.05, os.write, (writing, b"!")).start()
        wait([hub, reading], FOREVER)
        assert os.read(reading, 1) == b"!"

        os.dup2(reading, writing)
        wait([hub, reading], FOREVER)
        assert os.read(reading, 1) == b""


def test_descriptors_above_1023_work(hub: ControlHub, line: ControlLine) -> None:
    """A process with many connections waits as well as one with few."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(2048, hard) if hard > 0 else 2048, hard))
    try:
        with pipe() as (reading, writing):
            high = fcntl.fcntl(reading, fcntl.F_DUPFD, 1500)
            line.send(Close(1))
            wait([hub, high], FOREVER)
            assert len(heard(hub, 1)) == 1
            os.write(writing, b"!")
            wait([hub, high], FOREVER)
            assert os.read(high, 1) == b"!"
            os.close(high)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_what_a_signal_handler_raises_comes_out(hub: ControlHub) -> None:
    """Ctrl-C works while waiting for ever."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise HandledError

    with alarm(stop), pytest.raises(HandledError):
        wait([hub], FOREVER)


def test_a_signal_handler_that_only_takes_a_note_wakes_it_by_a_pipe(hub: ControlHub) -> None:
    """The loop sees the note soon after the signal."""
    notes: list[int] = []
    with pipe() as (reading, writing), alarm(lambda number, _: notes.append(number)):
        os.set_blocking(writing, False)
        old = signal.set_wakeup_fd(writing)
        try:
            wait([hub, reading], FOREVER)
        finally:
            signal.set_wakeup_fd(old)

    assert notes == [signal.SIGALRM]


def test_a_message_held_by_the_weather_ends_it_when_it_is_due(hub: ControlHub, line: ControlLine) -> None:
    """Nothing on the descriptor announces a late message; its link's patience does."""
    stormy = StormyLink(line, Weather(delay=0.05))
    line.send(Close(1))
    [(peer, _)] = heard(hub, 1)
    hub.send(peer, Close(2))
    wait([stormy], FOREVER)

    assert requests(stormy.receive()) == [2]
