"""Signals on the way in raise, on the way out they only hurry."""

import os
import signal
import time

import pytest

from specpipe.supervisor.signals import Interrupted, Interrupts


def _send(number: signal.Signals) -> None:
    """Send this process a signal and stay until its handler has run."""
    os.kill(os.getpid(), number)
    time.sleep(5)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_the_first_signal_raises_with_its_exit_code(number: signal.Signals, status: int) -> None:
    """The way out is that of any other error, so everything is closed on it."""
    with pytest.raises(Interrupted) as caught, Interrupts():
        _send(number)

    assert caught.value.exit_code == status


def test_a_later_signal_hurries_and_raises_nothing() -> None:
    """What is being closed is not broken off."""
    hurried: list[int] = []
    with Interrupts() as interrupts:
        interrupts.hurry_with(lambda: hurried.append(1))
        with pytest.raises(Interrupted):
            _send(signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGTERM)

    assert hurried == [1, 1]


def test_the_handlers_of_before_come_back() -> None:
    """Whoever called is left as it was."""
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    with Interrupts():
        pass

    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)] == before
