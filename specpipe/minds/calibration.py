"""How likely a drafted token is right, learned from what was committed.

Guesses are alike by (source, whether sampled, rank, margin of the winning score). A kind with few trials
leans on its rank's average, and that on a prior. What is learned changes speed, never tokens.
"""

from bisect import bisect

# Margins in nats between which a guess's chance of being right changes visibly.
EDGES = (0.25, 0.75, 1.5, 3.0, 6.0)
PRIOR = (0.6, 0.12, 0.05, 0.03)
_LEAN = 6.0
_MEMORY = 400.0


class _Tally:
    """How often guesses were right, the older ones counting less."""

    def __init__(self) -> None:
        self.right = 0.0
        self.trials = 0.0

    def add(self, right: bool) -> None:
        keep = 1.0 - 1.0 / _MEMORY
        self.right = self.right * keep + right
        self.trials = self.trials * keep + 1.0

    def mean(self, prior: float) -> float:
        return (self.right + _LEAN * prior) / (self.trials + _LEAN)


class Kind:
    """Guesses that are alike. `chance` is the estimated probability that one is right."""

    def __init__(self, rank: "_Rank", chance: float) -> None:
        self.chance = chance
        self._rank = rank
        self._tally = _Tally()

    def observe(self, right: bool) -> None:
        """Learn from one guess of this kind whose position was committed."""
        self._tally.add(right)
        self._rank.observe(right)

    def lean(self, average: float) -> None:
        """Estimate anew, from an average that few trials lean on."""
        self.chance = self._tally.mean(average)


class _Rank:
    """The kinds of one source and rank: one for each band of margins."""

    def __init__(self, prior: float) -> None:
        self._prior = prior
        self._tally = _Tally()
        self.kinds = [Kind(self, prior) for _ in range(len(EDGES) + 1)]

    def observe(self, right: bool) -> None:
        self._tally.add(right)
        average = self._tally.mean(self._prior)
        for kind in self.kinds:
            kind.lean(average)


class Calibration:
    """The kinds of guesses, shared by all requests of a drafter."""

    def __init__(self) -> None:
        self._ranks: dict[tuple[str, bool, int], _Rank] = {}

    def kind(self, source: str, sampled: bool, rank: int, gap: float) -> Kind:
        """Return the kind of a guess. `source` names who made it; `gap` is the margin over the next score
        for rank 0, and the distance to the best score for the others, in nats (n-grams: the match's length).
        """
        key = (source, sampled, rank)
        known = self._ranks.get(key)
        if known is None:
            known = self._ranks[key] = _Rank(_prior(rank))
        return known.kinds[bisect(EDGES, gap)]


def _prior(rank: int) -> float:
    return PRIOR[rank] if rank < len(PRIOR) else PRIOR[-1] / (rank - len(PRIOR) + 2)
