import numpy as np
import numpy.typing as npt
import pytest
import torch

from specpipe.models.attention import Arranger, Blocks
from specpipe.models.widths import Widths
from specpipe.words.batch import Batch

_HEADS, _KV, _DIM, _SLOTS, _LANES = 6, 2, 8, 256, 4


def _batch(lanes: list[int], draw: np.random.Generator, shown: int) -> Batch:
    """Return rows that see random slots, their own included."""
    count = len(lanes)
    slots = draw.integers(0, shown, count)
    visible = draw.random((count, shown)) < draw.random((count, 1))
    visible &= np.arange(shown) <= draw.integers(1, shown, count)[:, None]
    visible[np.arange(count), slots] = True
    zeros = np.zeros(count, np.int64)
    return Batch(np.array(lanes, np.int64), zeros, zeros, slots, visible, zeros.astype(np.uint64))


def _exact(queries: torch.Tensor, slab: torch.Tensor, batch: Batch) -> torch.Tensor:
    rows = []
    for query, lane, visible in zip(queries, batch.lanes.tolist(), batch.visible, strict=True):
        keys, values = (part[lane, :, : len(visible)].repeat_interleave(_HEADS // _KV, 0).double() for part in slab)
        scores = (keys @ query.double()[:, :, None])[:, :, 0] / _DIM**0.5
        shares = scores.masked_fill(~torch.from_numpy(visible), -torch.inf).softmax(-1)
        rows.append((shares[:, None, :] @ values).reshape(-1))
    return torch.stack(rows).float()


def _lanes(draw: np.random.Generator) -> list[int]:
    return sorted(int(lane) for lane in draw.integers(0, _LANES, int(draw.integers(1, 30))))


@pytest.mark.parametrize("merging", [False, True])
@pytest.mark.parametrize("blocks", [None, Widths().blocks, Widths((2, 4, 8, 16)).blocks])
def test_rows_attend_to_what_they_see_and_to_nothing_else(blocks: Blocks | None, *, merging: bool) -> None:
    """Whatever slots, lanes and blocks they are in."""
    draw = np.random.default_rng(7)
    arranger = Arranger(_HEADS // _KV, 128 if blocks else 32, torch.float32, torch.device("cpu"), blocks, merging)
    slab = torch.randn(2, _LANES, _KV, _SLOTS, _DIM, generator=torch.Generator().manual_seed(1))
    for _ in range(20):
        batch = _batch(_lanes(draw), draw, int(draw.integers(2, _SLOTS)))
        padded = sum(blocks(len(batch))) if blocks else len(batch)
        queries = torch.randn(padded, _HEADS, _DIM)

        out = arranger.arrange(batch, padded).attend(queries, slab[0], slab[1])

        assert torch.allclose(out[: len(batch)], _exact(queries[: len(batch)], slab, batch), atol=1e-5)


def _chains(lengths: list[int]) -> Batch:
    """Return one row a lane, at the end of a text of the given length."""
    count, ends = len(lengths), np.array(lengths, np.int64)
    visible: npt.NDArray[np.bool_] = np.arange(max(lengths)) < ends[:, None]
    zeros = np.zeros(count, np.int64)
    return Batch(np.arange(count), zeros, ends - 1, ends - 1, visible, zeros.astype(np.uint64))


def _arranger(*, merging: bool) -> Arranger:
    return Arranger(3, 128, torch.float32, torch.device("cpu"), Widths().blocks, merging)


def test_neighbouring_lanes_of_like_length_are_one_call() -> None:
    """16 requests are not 16 calls a layer."""
    spans = _arranger(merging=True).arrange(_chains([100, 90, 120, 200, 220]), 8).spans

    assert [(span.first, span.lanes, span.shown) for span in spans] == [(0, 3, 128), (3, 2, 256)]


def test_lanes_stay_apart_where_merging_is_off() -> None:
    """On a GPU the number of lanes may choose the kernel."""
    spans = _arranger(merging=False).arrange(_chains([100, 90]), 8).spans

    assert [(span.first, span.lanes) for span in spans] == [(0, 1), (1, 1)]


def test_a_block_across_a_rounding_edge_is_two_spans() -> None:
    """What a row is shown depends on that row alone."""
    batch = Batch.chain(0, 125, [1] * 6, [0] * 6)

    spans = _arranger(merging=True).arrange(batch, 8).spans

    assert [(span.shown, span.rows) for span in spans] == [(128, 8), (256, 8)]


def test_rows_in_their_own_order_need_no_gathering() -> None:
    """One request, one block: the usual pass."""
    arrangement = _arranger(merging=True).arrange(Batch.chain(0, 10, [1] * 5, [0] * 5), 8)

    assert (arrangement.queries, arrangement.results) == (None, None)
