"""A worker's signs of life, from its working loop itself: one that is stuck does not beat."""

from collections.abc import Callable, Mapping

import numpy as np

from specpipe.clock import now
from specpipe.links.seam import Link
from specpipe.words.messages import Hello, Pulse

EVERY_S = 0.25


class Heart:
    """Says who the worker is, and sends a `Pulse` each quarter of a second that the loop comes by.

    `standing` returns the requests that are open, each with its life and the number of its tokens that are known.
    """

    def __init__(self, hello: Hello, control: Link, standing: Callable[[], Mapping[int, tuple[int, int]]]) -> None:
        self._hello = hello
        self._control = control
        self._standing = standing
        self._next = 0.0

    def greet(self) -> None:
        """Say hello: at the start, and whenever the coordinator asks who this is."""
        self._control.send(self._hello)

    def beat(self, counter: int, dropped: int, peer: str = "") -> None:
        """Send a sign of life if one is due; `counter` counts steps or passes, `peer` is where edges are sent."""
        at = now()
        if at >= self._next:
            self._next = at + EVERY_S
            self._control.send(self._pulse(counter, dropped, peer, at))

    def rest(self, wake: float | None) -> float:
        """Return for how many seconds to sleep at most: until the next beat, or until `wake`."""
        until = self._next if wake is None else min(self._next, wake)
        return max(0.0, until - now())

    def _pulse(self, counter: int, dropped: int, peer: str, at: float) -> Pulse:
        standing = self._standing()
        lives, outputs = zip(*standing.values(), strict=True) if standing else ((), ())
        return Pulse(
            role=self._hello.role,
            counter=counter,
            dropped=dropped,
            at=at,
            requests=np.array(list(standing), np.uint64),
            lives=np.array(lives, np.int32),
            outputs=np.array(outputs, np.int32),
            peer=peer,
        )
