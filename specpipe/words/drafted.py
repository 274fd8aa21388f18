"""What has been drafted of one request, as it arrives at the verifier.

Edges are keyed by the hash of the prefix that they continue, so one that comes late, twice or out of order is
never wrong: it lies where it belongs, whether or not anything is ever drafted or committed that leads there.
"""

from collections.abc import Sequence
from typing import NamedTuple

from specpipe.words.draw import Draw

CAPACITY = 4096
WIDEST = 64
_LEAST = 1e-9


class Edge(NamedTuple):
    """One drafted token, the log of its draft probability, and the chance that it is right given its prefix."""

    token: int
    log_q: float
    chance: float


class Drafted:
    """The edges of a request, and what was drawn for it, by the prefix that they continue.

    Bounded: of more than `capacity` prefixes the oldest are forgotten, of more than `WIDEST` edges the newest.
    A chance outside 0..1, which only a foreign drafter would claim, counts as the nearest within.
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self.capacity = capacity
        self._after: dict[int, list[Edge]] = {}
        self._draws: dict[int, Draw] = {}

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

    def draw(self, prefix: int, draw: Draw) -> None:
        """Keep what was drawn after `prefix`; the first one stands, since only that was drawn without knowing more."""
        if self._draws.setdefault(prefix, draw) is draw and len(self._draws) > self.capacity:
            del self._draws[next(iter(self._draws))]

    def drawn(self, prefix: int) -> Draw | None:
        """Return what was drawn after `prefix`."""
        return self._draws.get(prefix)

    def first(self, prefix: int) -> Edge | None:
        """Return the edge by which a chain goes on after `prefix`: the drawn one, or else the likeliest."""
        edges, draw = self.after(prefix), self._draws.get(prefix)
        drawn = draw and next((edge for edge in edges if edge.token == draw.token), None)
        return drawn or (edges[0] if edges else None)

    def foresaw(self, prefix: int, token: int) -> bool:
        """Return whether `token` was drafted after `prefix`."""
        return any(edge.token == token for edge in self.after(prefix))
