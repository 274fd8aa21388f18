"""How likely a drafted token is right, learned from what was committed.

A table by (source, whether sampled, rank, margin of the winning score). A cell with few trials leans
on its rank's average, and that on a prior. What is learned changes speed, never tokens.
"""

from bisect import bisect
from dataclasses import dataclass
from typing import NamedTuple

# Margins in nats between which a guess's chance of being right changes visibly.
EDGES = (0.25, 0.75, 1.5, 3.0, 6.0)
PRIOR = (0.6, 0.12, 0.05, 0.03)
_LEAN = 6.0
_MEMORY = 400.0


class Mark(NamedTuple):
    """What is known of a guess before it is checked.

    `source` names who made it; `gap` is the margin over the next score for rank 0, and the distance to
    the best score for the others, in nats (for n-grams: the length of the match).
    """

    source: str
    sampled: bool
    rank: int
    gap: float


@dataclass(slots=True)
class _Tally:
    right: float = 0.0
    trials: float = 0.0

    def add(self, right: bool) -> None:
        keep = 1.0 - 1.0 / _MEMORY
        self.right = self.right * keep + right
        self.trials = self.trials * keep + 1.0

    def mean(self, prior: float) -> float:
        return (self.right + _LEAN * prior) / (self.trials + _LEAN)


class Calibration:
    """Chances of being right, shared by all requests of a drafter."""

    def __init__(self) -> None:
        self._ranks: dict[tuple[str, bool, int], _Tally] = {}
        self._cells: dict[tuple[str, bool, int, int], _Tally] = {}

    def chance(self, mark: Mark) -> float:
        """Return the estimated probability that a guess with this mark is right."""
        rank, cell = _keys(mark)
        average = self._ranks.get(rank, _Tally()).mean(_prior(mark.rank))
        return self._cells.get(cell, _Tally()).mean(average)

    def observe(self, mark: Mark, right: bool) -> None:
        """Learn from one guess whose position was committed."""
        rank, cell = _keys(mark)
        self._ranks.setdefault(rank, _Tally()).add(right)
        self._cells.setdefault(cell, _Tally()).add(right)


def _keys(mark: Mark) -> tuple[tuple[str, bool, int], tuple[str, bool, int, int]]:
    rank = (mark.source, mark.sampled, mark.rank)
    return rank, (*rank, bisect(EDGES, mark.gap))


def _prior(rank: int) -> float:
    return PRIOR[rank] if rank < len(PRIOR) else PRIOR[-1] / (rank - len(PRIOR) + 2)
