"""A worker's signs of life, from its working loop itself: one that is stuck does not beat."""

from specpipe.clock import now
from specpipe.links.seam import Link
from specpipe.words.messages import Pulse
from specpipe.words.messages.fields import Role

EVERY_S = 0.25


class Heart:
    """Sends a `Pulse` each quarter of a second that the loop comes by."""

    def __init__(self, role: Role, control: Link) -> None:
        self._role: Role = role
        self._control = control
        self._next = 0.0

    def beat(self, counter: int, dropped: int) -> None:
        """Send a sign of life if one is due; `counter` counts steps or passes."""
        at = now()
        if at >= self._next:
            self._next = at + EVERY_S
            self._control.send(Pulse(role=self._role, counter=counter, dropped=dropped, at=at))

    def rest(self, wake: float | None) -> float:
        """Return for how many seconds to sleep at most: until the next beat, or until `wake`."""
        until = self._next if wake is None else min(self._next, wake)
        return max(0.0, until - now())
