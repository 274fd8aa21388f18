import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from specpipe.models.widths import CHOICES, WIDTH, Probe, Widths, proved_widths, same_bits


@given(rows=st.integers(1, 300), proved=st.sets(st.sampled_from(CHOICES)))
def test_blocks_hold_all_rows_at_proved_widths_with_little_to_spare(rows: int, proved: set[int]) -> None:
    """Whatever was proved; the usual width always is."""
    blocks = Widths(proved).blocks(rows)

    assert set(blocks) <= proved | {WIDTH}
    assert 0 <= sum(blocks) - rows < WIDTH
    assert sum(blocks[:-1]) < rows


def test_rows_that_fit_go_together() -> None:
    """The narrowest proved width that holds them."""
    widths = Widths((2, 4, 8, 16))

    assert [widths.blocks(rows) for rows in (1, 3, 8, 9, 17)] == [(2,), (4,), (8,), (16,), (16, 2)]


def _rows(count: int) -> torch.Tensor:
    return torch.randn(count, 64, generator=torch.Generator().manual_seed(count))


def _sums_backwards_at_sixteen(rows: torch.Tensor) -> torch.Tensor:
    columns = rows.flip(1) if len(rows) == 16 else rows
    return sum(columns.unbind(1), torch.zeros(len(rows)))


def _depends_on_its_place(rows: torch.Tensor) -> torch.Tensor:
    return rows + torch.arange(len(rows))[:, None]


def test_another_order_of_summing_is_seen() -> None:
    """A width at which it happens is not proved, the others are."""
    assert proved_widths([Probe(_sums_backwards_at_sixteen, _rows)]) == (2, 4, 8, 24, 32)


def test_rows_that_depend_on_their_place_are_seen() -> None:
    """Nothing is proved then, not even the usual width."""
    assert proved_widths([Probe(_depends_on_its_place, _rows)]) == ()


@pytest.mark.parametrize("width", CHOICES)
def test_a_function_of_each_row_alone_has_the_same_bits(width: int) -> None:
    """At all widths."""
    assert same_bits(Probe(lambda rows: rows * 3, _rows), width)
