"""The rows of one forward pass."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from specpipe.words.batch import Batch

CHAINS = st.tuples(st.integers(0, 7), st.integers(0, 50), st.lists(st.integers(0, 500), min_size=1, max_size=8))


def chain(lane: int, start: int, tokens: list[int]) -> Batch:
    """Return a chain whose prefixes are 100, 101, ..."""
    return Batch.chain(lane, start, tokens, list(range(100, 100 + len(tokens))))


@given(CHAINS)
def test_a_row_of_a_chain_sees_all_before_it_and_itself(shape: tuple[int, int, list[int]]) -> None:
    """Attention is causal over the whole lane, from its first slot on."""
    lane, start, tokens = shape
    batch = chain(lane, start, tokens)

    assert len(batch) == len(tokens)
    for row in range(len(tokens)):
        seen = np.flatnonzero(batch.visible[row]).tolist()
        assert seen == list(range(start + row + 1))


@given(CHAINS)
def test_a_chain_lies_where_its_positions_are(shape: tuple[int, int, list[int]]) -> None:
    """Slots equal positions, and count on from the start, all in one lane."""
    lane, start, tokens = shape
    batch = chain(lane, start, tokens)

    assert batch.positions.tolist() == list(range(start, start + len(tokens)))
    assert batch.slots.tolist() == batch.positions.tolist()
    assert set(batch.lanes.tolist()) == {lane}
    assert batch.tokens.tolist() == tokens


def test_prefixes_keep_all_64_bits() -> None:
    """Hashes above 2**63 are not mistaken for negative numbers."""
    batch = Batch.chain(0, 0, [1], [(1 << 64) - 1])

    assert batch.prefixes.tolist() == [(1 << 64) - 1]


def test_a_tree_sees_the_text_and_each_row_its_own_ancestors() -> None:
    """Slots follow one another; positions go by depth."""
    batch = Batch.tree(3, 2, [7, 8, 9, 5], [1, 2, 3, 4], [-1, 0, 1, 0])

    assert batch.slots.tolist() == [2, 3, 4, 5]
    assert batch.positions.tolist() == [2, 3, 4, 3]
    assert [row.nonzero()[0].tolist() for row in batch.visible] == [
        [0, 1, 2],
        [0, 1, 2, 3],
        [0, 1, 2, 3, 4],
        [0, 1, 2, 5],
    ]
    assert batch.lanes.tolist() == [3] * 4


def test_a_tree_without_branches_is_a_chain() -> None:
    """Row for row."""
    tree = Batch.tree(1, 2, [7, 8, 9], [1, 2, 3], [-1, 0, 1])
    chain = Batch.chain(1, 2, [7, 8, 9], [1, 2, 3])

    for name in ("lanes", "tokens", "positions", "slots", "visible", "prefixes"):
        assert getattr(tree, name).tolist() == getattr(chain, name).tolist()
