"""The trie that a drafter grows."""

from math import log

from hypothesis import given
from hypothesis import strategies as st

from specpipe.words import prefix as prefixes
from specpipe.words.trie import Node, Trie

ROOT = prefixes.origin(1)
PATHS = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=6).map(tuple), min_size=1, max_size=12)


def grown(paths: list[tuple[int, ...]], capacity: int = 1000) -> Trie:
    """Return a trie of some paths of tokens under the root."""
    trie = Trie(ROOT, 9, 0, capacity)
    for path in paths:
        node: Node | None = trie.root
        for token in path:
            if node is not None:
                node = trie.grow(node, token, 0.0, 0.5) or node.children.get(token)
    return trie


@given(paths=PATHS, walk=st.lists(st.integers(0, 3), max_size=6))
def test_moving_the_root_keeps_exactly_what_lies_under_it(paths: list[tuple[int, ...]], walk: list[int]) -> None:
    """After a walk the trie holds the continuations of that walk."""
    trie = grown(paths)
    for token in walk:
        trie.advance(token)

    inside = {path[:length] for path in paths for length in range(1, len(path) + 1)}
    expected = {path for path in inside if path[: len(walk)] == tuple(walk)}
    names = {node.prefix for node in trie.root.below()}
    assert names == {prefixes.extend(ROOT, path) for path in expected} | {trie.root.prefix}
    assert names == set(trie._nodes)
    assert trie.root.prefix == prefixes.extend(ROOT, walk)
    assert trie.root.position == len(walk)


def test_a_full_trie_stays_bounded() -> None:
    """However much is grown, at most `capacity` nodes are kept."""
    assert len(grown([(token,) for token in range(100)], capacity=10)) == 10


def test_a_child_that_is_known_is_not_made_again() -> None:
    """The first one stays."""
    trie = Trie(ROOT, 9, 0)
    first = trie.grow(trie.root, 1, 0.0, 0.5)

    assert trie.grow(trie.root, 1, 0.0, 0.9) is None
    assert first is not None
    assert first is trie.find(prefixes.child(ROOT, 1))


def test_reach_is_the_log_of_the_product_of_chances() -> None:
    """Its differences are what moving the root leaves as they were."""
    trie = Trie(ROOT, 9, 0)
    first = trie.grow(trie.root, 1, 0.0, 0.5)
    assert first is not None
    second = trie.grow(first, 2, 0.0, 0.25)
    assert second is not None

    assert abs(second.reach - trie.root.reach - log(0.125)) < 1e-12
    trie.advance(1)
    assert abs(second.reach - trie.root.reach - log(0.25)) < 1e-12
