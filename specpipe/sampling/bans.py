"""Tokens that may not be chosen: outside the allowed ones, ends that come too early, the last of a bad word."""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from specpipe.sampling.columns import Columns
from specpipe.words.sampling import Sampling


class Bans:
    """The bans of one request, whose prompt has `prompt` tokens and whose ends are `stops`.

    What is banned gets minus infinity. Where this would leave nothing, the ban on ends and bad words gives way, so
    that there always is a token to choose; the allowed ones hold in any case.
    """

    def __init__(self, sampling: Sampling, stops: Sequence[int], prompt: int, columns: Columns) -> None:
        self._columns = columns
        self._least = prompt + sampling.min_tokens
        self._stops = tuple(stops)
        self._allowed = columns.index(columns.find(sorted(set(sampling.allowed_ids))))
        self._single = tuple(word[0] for word in sampling.bad_words if len(word) == 1)
        self._longer = [word for word in sampling.bad_words if len(word) > 1]
        self._reach = max(map(len, self._longer), default=1) - 1

    def apply(self, row: Tensor, committed: Sequence[int], path: Sequence[int]) -> Tensor:
        """Return the scores of a row, float32 [columns], after `committed` (prompt and output) and then `path`."""
        if len(self._allowed):
            row = self._only_allowed(row)
        barred = self._columns.find(self._barred(committed, path))
        if not len(barred):
            return row
        left = row.clone()
        left[self._columns.index(barred)] = -torch.inf
        return row if left.amax().isneginf() else left

    def _only_allowed(self, row: Tensor) -> Tensor:
        scores = row[self._allowed]
        if scores.amax().isneginf():
            scores = torch.zeros_like(scores)
        return torch.full_like(row, -torch.inf).index_copy_(0, self._allowed, scores)

    def _barred(self, committed: Sequence[int], path: Sequence[int]) -> Iterator[int]:
        yield from self._single
        if len(committed) + len(path) < self._least:
            yield from self._stops
        if self._longer:
            tail = tuple([*committed[-self._reach :], *path][-self._reach :])
            yield from (word[-1] for word in self._longer if tail[1 - len(word) :] == word[:-1])
