"""What to do when a process ends on its own. Pure: moments are handed in."""

from collections import deque
from dataclasses import dataclass
from typing import Literal

Role = Literal["coordinator", "drafter", "verifier"]
BAD_USAGE = 64
_LONGEST_S = 30.0


@dataclass(frozen=True, slots=True)
class Restart:
    """Start the process again after `after_s` seconds."""

    after_s: float


@dataclass(frozen=True, slots=True)
class GoOnWithout:
    """The service goes on without this process."""


@dataclass(frozen=True, slots=True)
class EndAll:
    """Nothing can be served any more; `deaths` counts those of the role in the window, `cause` is the first one's."""

    deaths: int
    cause: str


Decision = Restart | GoOnWithout | EndAll


@dataclass(frozen=True, slots=True)
class Death:
    """A process ended on its own, with an exit status (negative for a signal), at a moment in seconds."""

    role: Role
    status: int
    reason: str
    at: float


class RestartPolicy:
    """A worker may die `budget` times within `window_s` seconds, and is started again ever more slowly.

    One that says that it can never load (status 64) is not started again. Giving up on the verifier ends the
    instance, since nothing can be served without one; so does giving up on the drafter while the instance has never
    served, but later the service goes on without it. What a coordinator knew of the open requests dies with it.
    """

    def __init__(self, budget: int = 3, window_s: float = 60.0, first_s: float = 0.25) -> None:
        self._budget = budget
        self._window_s = window_s
        self._first_s = first_s
        self._deaths: dict[Role, deque[Death]] = {}

    def ended(self, death: Death, *, served: bool) -> Decision:
        """Decide what to do about a death; `served`: all were once ready."""
        deaths = self._deaths.setdefault(death.role, deque())
        deaths.append(death)
        while deaths[0].at <= death.at - self._window_s:
            deaths.popleft()
        if death.role != "coordinator" and death.status != BAD_USAGE and len(deaths) <= self._budget:
            return Restart(min(self._first_s * 4 ** min(len(deaths) - 1, 8), _LONGEST_S))
        if death.role == "drafter" and served:
            return GoOnWithout()
        return EndAll(1, death.reason) if death.status == BAD_USAGE else EndAll(len(deaths), deaths[0].reason)
