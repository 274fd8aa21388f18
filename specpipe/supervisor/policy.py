"""What to do when a process ends on its own. Pure: moments are handed in."""

from collections import deque
from dataclasses import dataclass
from typing import Literal

Role = Literal["coordinator", "drafter", "verifier"]
BAD_USAGE = 64


@dataclass(frozen=True, slots=True)
class Restart:
    """Start the process again after `after_s` seconds."""

    after_s: float


@dataclass(frozen=True, slots=True)
class GoOnWithout:
    """The service goes on without this process."""


@dataclass(frozen=True, slots=True)
class EndAll:
    """Nothing can be served any more."""


Decision = Restart | GoOnWithout | EndAll


class RestartPolicy:
    """A drafter may die `budget` times within `window_s` seconds, and is started again ever more slowly.

    One that says that it can never load (status 64) is not started again. While the instance has never
    served, giving up on the drafter ends it; later the service goes on without one. Nothing can be served
    without a verifier or a coordinator, so the end of either ends the instance.
    """

    def __init__(self, budget: int = 3, window_s: float = 60.0, first_s: float = 0.25) -> None:
        self._budget = budget
        self._window_s = window_s
        self._first_s = first_s
        self._ends: deque[float] = deque()

    def ended(self, role: Role, status: int, at: float, *, served: bool) -> Decision:
        """Decide about a process that ended with exit `status` at moment `at`; `served`: all were once ready."""
        if role != "drafter":
            return EndAll()
        self._ends.append(at)
        while self._ends[0] <= at - self._window_s:
            self._ends.popleft()
        if status != BAD_USAGE and len(self._ends) <= self._budget:
            return Restart(self._first_s * 4 ** (len(self._ends) - 1))
        return GoOnWithout() if served else EndAll()
