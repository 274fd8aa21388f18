"""How the processes are ended: asked, then told, then killed, in less than five seconds altogether."""

import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass

from specpipe.clock import now
from specpipe.supervisor.crew import Crew

_PUMP_S = 0.02


@dataclass(frozen=True, slots=True)
class Patience:
    """How long each step may take, in seconds."""

    start_coordinator_s: float = 60.0
    start_worker_s: float = 900.0
    halt_s: float = 2.0
    terminate_s: float = 1.0
    kill_s: float = 1.0


def descend(crew: Crew, halt: Callable[[], bool], hurry: threading.Event, patience: Patience) -> None:
    """End all children of `crew`; once `hurry` is set they are killed at once.

    `halt` asks the instance to end, and returns whether there was anyone to ask.
    """
    if halt():
        _settle(crew, patience.halt_s, hurry)
    _signal(crew, signal.SIGTERM)
    _settle(crew, patience.terminate_s, hurry)
    _signal(crew, signal.SIGKILL)
    _settle(crew, patience.kill_s, threading.Event())


def _signal(crew: Crew, number: signal.Signals) -> None:
    for child in crew:
        child.signal(number)


def _settle(crew: Crew, wait_s: float, hurry: threading.Event) -> None:
    """Wait until all have ended, reading on, so that none blocks on a full pipe."""
    deadline = now() + wait_s
    while list(crew) and now() < deadline and not hurry.is_set():
        crew.pump(_PUMP_S)
        crew.ended()
