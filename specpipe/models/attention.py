"""Attention of the rows of one batch over the slab: which rows go together, and their masks.

Rows of one lane that are shown equally many slots are one group. The query heads that share a key head are
folded into the rows, so keys and values are read as they lie. Everything that depends on the batch alone is
made once, in `arrange`, and serves all layers.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional

from specpipe.words.batch import Batch

Ints = npt.NDArray[np.int64]
Blocks = Callable[[int], tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Span:
    """`rows` query rows of each of `lanes` neighbouring lanes from `first` on, over `shown` slots.

    `mask` is 0 or -inf, [lanes, 1, rows * group, shown], in the model's dtype.
    """

    first: int
    lanes: int
    rows: int
    shown: int
    mask: torch.Tensor


@dataclass(frozen=True, slots=True)
class Arrangement:
    """The spans of a batch. `queries` are the rows in the order of the spans, `results` where each row's
    result lies in that order; None where the order is the batch's own.
    """

    spans: tuple[Span, ...]
    queries: torch.Tensor | None
    results: torch.Tensor | None

    def attend(self, queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        """Return [rows, heads * dim] for queries [rows, heads, dim], keys and values [lane, kv head, slot, dim]."""
        ordered = queries if self.queries is None else queries.index_select(0, self.queries)
        counts = [span.lanes * span.rows for span in self.spans]
        parts = [
            _attended(part, keys, values, span)
            for part, span in zip(torch.split(ordered, counts), self.spans, strict=True)
        ]
        joined = parts[0] if len(parts) == 1 else torch.cat(parts)
        return joined if self.results is None else joined.index_select(0, self.results)


def _attended(queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, span: Span) -> torch.Tensor:
    heads, size = keys.shape[1], keys.shape[3]
    here = slice(span.first, span.first + span.lanes)
    folded = queries.view(span.lanes, span.rows, heads, -1, size).transpose(1, 2)
    out = functional.scaled_dot_product_attention(
        folded.reshape(span.lanes, heads, -1, size),
        keys[here, :, : span.shown],
        values[here, :, : span.shown],
        attn_mask=span.mask,
    )
    return out.view(span.lanes, heads, span.rows, -1, size).transpose(1, 2).reshape(span.lanes * span.rows, -1)


@dataclass(frozen=True, slots=True)
class _Block:
    """Rows of one lane that are computed together; beyond the first `real` they repeat the last one."""

    lane: int
    shown: int
    rows: Ints
    real: int


@dataclass(frozen=True, slots=True)
class Arranger:
    """How batches are arranged for a model: `group` query heads share a key head.

    `step` is what the shown slots are rounded up to. With `blocks` each row is shown a number of slots that
    depends on that row alone, and rows are computed in blocks of those sizes; without it lanes stay whole.
    `merging` joins blocks of the same form in neighbouring lanes.
    """

    group: int
    step: int
    dtype: torch.dtype
    device: torch.device
    blocks: Blocks | None = None
    merging: bool = True

    def arrange(self, batch: Batch, padded: int) -> Arrangement:
        """Return the arrangement of a batch whose rows are padded to `padded`."""
        blocks = list(self._blocks(batch))
        spans = tuple(self._span(batch.visible, run) for run in self._runs(blocks))
        order = np.concatenate([block.rows for block in blocks])
        results = np.zeros(padded, np.int64)
        start = 0
        for block in blocks:
            results[block.rows[: block.real]] = np.arange(start, start + block.real)
            start += len(block.rows)
        if len(order) == padded and len(batch) <= padded and _same_so_far(order, len(batch)):
            return Arrangement(spans, None, None)
        return Arrangement(spans, self._tensor(order), self._tensor(results))

    def _blocks(self, batch: Batch) -> Iterator[_Block]:
        shown = rounded_up(_lengths(batch.visible), self.step)
        for lane, start, stop in stretches(batch.lanes):
            if self.blocks is None:
                yield _Block(lane, int(shown[start:stop].max()), np.arange(start, stop), stop - start)
                continue
            for length in np.unique(shown[start:stop]).tolist():
                yield from _cut(lane, length, start + np.flatnonzero(shown[start:stop] == length), self.blocks)

    def _runs(self, blocks: list[_Block]) -> Iterator[list[_Block]]:
        """Yield blocks of the same form in lanes that follow one another."""
        run: list[_Block] = []
        for block in blocks:
            if run and not (self.merging and _follows(run[-1], block)):
                yield run
                run = []
            run.append(block)
        yield run

    def _span(self, visible: npt.NDArray[np.bool_], run: list[_Block]) -> Span:
        rows, shown = np.concatenate([block.rows for block in run]), run[0].shown
        mask = np.full((len(rows), shown), -np.inf, np.float32)
        seen = visible[rows, :shown]
        mask[:, : seen.shape[1]][seen] = 0.0
        folded = torch.from_numpy(mask).to(self.device, self.dtype).repeat_interleave(self.group, 0)
        return Span(run[0].lane, len(run), len(run[0].rows), shown, folded.view(len(run), 1, -1, shown))

    def _tensor(self, rows: Ints) -> torch.Tensor:
        return torch.from_numpy(rows).to(self.device)


def rounded_up(counts: Ints, step: int) -> Ints:
    """Return each count rounded up to a multiple of `step`."""
    rounded: Ints = -(-counts // step) * step
    return rounded


def _lengths(visible: npt.NDArray[np.bool_]) -> Ints:
    """Return one more than the highest visible slot of each row."""
    lengths: Ints = visible.shape[1] - np.argmax(visible[:, ::-1], axis=1)
    return lengths


def stretches(lanes: Ints) -> Iterator[tuple[int, int, int]]:
    """Yield (lane, start, stop) of the rows of each lane."""
    cuts = [0, *(np.flatnonzero(np.diff(lanes)) + 1).tolist(), len(lanes)]
    for start, stop in pairwise(cuts):
        yield int(lanes[start]), start, stop


def _cut(lane: int, shown: int, rows: Ints, blocks: Blocks) -> Iterator[_Block]:
    start = 0
    for size in blocks(len(rows)):
        mine = rows[np.minimum(np.arange(start, start + size), len(rows) - 1)]
        yield _Block(lane, shown, mine, min(size, len(rows) - start))
        start += size


def _follows(last: _Block, block: _Block) -> bool:
    return (block.lane, block.shown, len(block.rows)) == (last.lane + 1, last.shown, len(last.rows))


def _same_so_far(order: Ints, count: int) -> bool:
    return bool((order[:count] == np.arange(count)).all())
