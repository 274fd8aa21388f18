"""Penalties on tokens that were written before, each position by what was written before that very position.

`repetition` divides positive scores and multiplies negative ones (Keskar et al., 2019), once for each token of prompt
or output. `frequency` is subtracted for each time that the output has the token, `presence` once.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from specpipe.sampling.columns import Columns
from specpipe.words.batch import Ints
from specpipe.words.sampling import Sampling


class Penalties:
    """The penalties of one request, whose prompt has `prompt` tokens.

    Committed tokens never change, so they are counted once; those of a path are counted for one row and forgotten.
    """

    def __init__(self, sampling: Sampling, prompt: int, columns: Columns) -> None:
        self._repetition = sampling.repetition_penalty
        self._presence = sampling.presence_penalty
        self._frequency = sampling.frequency_penalty
        self._prompt = prompt
        self._columns = columns
        self._counted = 0
        self._seen = np.zeros(len(columns), np.bool_)
        self._times = np.zeros(len(columns), np.int32)

    def apply(self, row: Tensor, committed: Sequence[int], path: Sequence[int]) -> Tensor:
        """Return the scores of a row, float32 [columns], after `committed` (prompt and output) and then `path`."""
        self._count(committed)
        drafted = self._columns.find(path)
        row = row.clone()
        if self._repetition != 1.0:
            self._repeat(row, _with(self._seen, drafted))
        if self._presence or self._frequency:
            self._reduce(row, drafted)
        return row

    def _count(self, committed: Sequence[int]) -> None:
        """Count what was committed since the last time."""
        if self._counted == len(committed):
            return
        self._seen[self._columns.find(committed[self._counted :])] = True
        np.add.at(self._times, self._columns.find(committed[max(self._counted, self._prompt) :]), 1)
        self._counted = len(committed)

    def _repeat(self, row: Tensor, seen: npt.NDArray[np.bool_]) -> None:
        at = self._columns.index(np.flatnonzero(seen))
        scores = row[at]
        row[at] = torch.where(scores < 0, scores * self._repetition, scores / self._repetition)

    def _reduce(self, row: Tensor, drafted: Ints) -> None:
        times = self._times.copy()
        np.add.at(times, drafted, 1)
        written = np.flatnonzero(times)
        counts = torch.from_numpy(times[written]).to(row)
        row[self._columns.index(written)] -= self._frequency * counts + self._presence


def _with(seen: npt.NDArray[np.bool_], drafted: Ints) -> npt.NDArray[np.bool_]:
    seen = seen.copy()
    seen[drafted] = True
    return seen
