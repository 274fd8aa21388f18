"""The first, slow forward passes, and how long the later ones take at each number of rows."""

from collections.abc import Iterable

import numpy as np

from specpipe.clock import now
from specpipe.models.seam import Executor
from specpipe.words.batch import Batch

_ROUNDS = 3
_START = 64


def warm(executor: Executor, rows: Iterable[int]) -> dict[int, float]:
    """Return the seconds of a forward pass by its number of rows, the best of a few rounds.

    Writes to the first slots of lane 0, so it is to be called before any request is open.
    """
    executor.prefill(_chain(0, _START))
    return {count: min(_timed(executor, count) for _ in range(_ROUNDS)) for count in rows}


def _timed(executor: Executor, count: int) -> float:
    batch = _chain(_START, count)
    began = now()
    executor.decode(batch)
    return max(now(), executor.busy_until) - began


def _chain(start: int, count: int) -> Batch:
    return Batch.chain(0, start, np.arange(start, start + count).tolist(), [0] * count)
