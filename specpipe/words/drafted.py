"""What has been drafted of one request, as it arrives at the verifier.

Edges are keyed by the hash of the prefix that they continue, so one that comes late, twice or out of order is
never wrong: it lies where it belongs, whether or not anything is ever drafted or committed that leads there.
"""

from collections.abc import Sequence
from typing import NamedTuple

CAPACITY = 4096
WIDEST = 64
_LEAST = 1e-9


class Edge(NamedTuple):
    """One drafted token, the log of its draft probability, and the chance that it is right given its prefix."""

    token: int
    log_q: float
    chance: float


class Drafted:
    """The edges of a request by the prefix that they continue.

    Bounded: of more than `capacity` prefixes the oldest are forgotten, of more than `WIDEST` edges the newest.
    A chance outside 0..1, which only a foreign drafter would claim, counts as the nearest within.
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self.capacity = capacity
        self._after: dict[int, list[Edge]] = {}

    def __len__(self) -> int:
        """Return of how many prefixes edges are kept."""
        return len(self._after)

    def add(self, prefix: int, token: int, log_q: float, chance: float) -> None:
        """Keep an edge after `prefix`, unless its token is known there already."""
        known = self._after.get(prefix)
        if known is None:
            self._after[prefix] = [Edge(token, log_q, min(max(chance, _LEAST), 1.0))]
            if len(self._after) > self.capacity:
                del self._after[next(iter(self._after))]
        elif len(known) < WIDEST and all(edge.token != token for edge in known):
            known.append(Edge(token, log_q, min(max(chance, _LEAST), 1.0)))
            if known[-1].chance > known[-2].chance:
                known.sort(key=lambda edge: -edge.chance)

    def after(self, prefix: int) -> Sequence[Edge]:
        """Return the edges after `prefix`, the likeliest first, the earlier of equals first."""
        return self._after.get(prefix, ())

    def foresaw(self, prefix: int, token: int) -> bool:
        """Return whether `token` was drafted after `prefix`."""
        return any(edge.token == token for edge in self.after(prefix))
