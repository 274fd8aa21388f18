"""Processors: temperature, top-k, top-p, min-p, in this order, each on one row, so that no row touches another's bits.

Where tokens tie at an edge, the lowest token ids stay.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from specpipe.sampling.ranking import at_least, falling
from specpipe.words.sampling import Sampling

# Below this, every score but the best is so far away that float32 calls it minus infinity.
_COLDEST = 1e-30


@dataclass(frozen=True, slots=True)
class Kept:
    """What the processors left of a row: `scores` float32 [kept] of `columns` int64 [kept], ascending; None: all."""

    columns: Tensor | None
    scores: Tensor

    def only(self, places: Tensor) -> "Kept":
        """Return what is left of this when only some places stay, int64 [fewer], ascending."""
        return Kept(places if self.columns is None else self.columns[places], self.scores[places])


def kept(logits: Tensor, sampling: Sampling) -> Kept:
    """Apply all processors to a row of logits, float32 [columns]; the scores are log-probabilities plus a constant."""
    left = Kept(None, temper(logits, sampling.temperature))
    if 0 < sampling.top_k < len(left.scores):
        left = left.only(top_k(left.scores, sampling.top_k))
    if sampling.top_p < 1.0:
        left = left.only(top_p(left.scores, sampling.top_p))
    if sampling.min_p > 0.0:
        left = left.only(min_p(left.scores, sampling.min_p))
    return left


def processed(logits: Tensor, sampling: Sampling) -> Tensor:
    """Return `kept` spread over all columns, float32 [columns]; removed tokens are minus infinity."""
    left = kept(logits, sampling)
    if left.columns is None:
        return left.scores
    return torch.full_like(logits, -torch.inf).index_copy_(0, left.columns, left.scores)


def temper(logits: Tensor, temperature: float) -> Tensor:
    """Divide by the temperature, the best score moved to 0 first so that a tiny temperature cannot overflow."""
    return (logits - logits.amax()).div_(max(temperature, _COLDEST))


def top_k(scores: Tensor, k: int) -> Tensor:
    """Return the columns of the `k` best scores, int64 [k], ascending; `k` is at most the number of scores."""
    return _best(scores, k, torch.topk(scores, k).values[-1])


def top_p(scores: Tensor, p: float) -> Tensor:
    """Return the columns of the smallest set whose probability reaches `p` < 1, int64, ascending, at least one.

    The scores are such as `temper` gives, so that their exponentials do not overflow.
    """
    total = scores.exp().sum(dtype=torch.float64)
    # All tokens below (1 - p) / columns together weigh less than 1 - p, so the set lies above; half, for rounding.
    floor = total.log() + math.log((1.0 - p) / (2 * len(scores)))
    values = falling(scores[at_least(scores, floor)])
    weights = values.exp().double()
    count = int((weights.cumsum(0) - weights < p * total).sum())
    return _best(scores, count, values[count - 1])


def min_p(scores: Tensor, p: float) -> Tensor:
    """Return the columns whose probability is at least `p` > 0 times that of the best (Nguyen et al., 2024), int64.

    The scores are such as `temper` gives, so that the best is 0. The columns are ascending.
    """
    return at_least(scores, scores.new_tensor(math.log(p)))


def _best(scores: Tensor, count: int, edge: Tensor) -> Tensor:
    columns = at_least(scores, edge)
    surplus = len(columns) - count
    if surplus == 0:
        return columns
    tied = (scores[columns] == edge).nonzero()[:, 0]
    stays = torch.ones_like(columns, dtype=torch.bool)
    stays[tied[-surplus:]] = False
    return columns[stays]
