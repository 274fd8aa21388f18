"""The trie of drafted continuations."""

from hypothesis import given
from hypothesis import strategies as st

from specpipe.words import prefix as prefixes
from specpipe.words.trie import Edge, Trie

ROOT = prefixes.origin(1)


def edges(paths: list[tuple[int, ...]]) -> list[Edge]:
    """Return the edges of some paths of tokens under the root, each once, parents first."""
    seen = {path[:length] for path in paths for length in range(1, len(path) + 1)}
    return [Edge(prefixes.extend(ROOT, path[:-1]), path[-1], 0.0, 0.5) for path in sorted(seen, key=len)]


PATHS = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=6).map(tuple), min_size=1, max_size=12)


@given(paths=PATHS, data=st.data())
def test_edges_find_their_place_in_any_order_and_number(paths: list[tuple[int, ...]], data: st.DataObject) -> None:
    """Late, repeated and reordered edges build the same trie."""
    ordered = Trie(ROOT, 9, 0)
    for edge in edges(paths):
        ordered.insert(edge)
    shuffled = Trie(ROOT, 9, 0)
    for edge in data.draw(st.permutations(edges(paths) * 2)):
        shuffled.insert(edge)

    assert {node.prefix for node in ordered.root.below()} == {node.prefix for node in shuffled.root.below()}


@given(paths=PATHS, walk=st.lists(st.integers(0, 3), max_size=6))
def test_moving_the_root_keeps_exactly_what_lies_under_it(paths: list[tuple[int, ...]], walk: list[int]) -> None:
    """After a walk the trie holds the continuations of that walk, and says whether its end had been drafted."""
    trie = Trie(ROOT, 9, 0)
    for edge in edges(paths):
        trie.insert(edge)

    hits = [trie.advance(token) for token in walk]

    inside = {path[:length] for path in paths for length in range(1, len(path) + 1)}
    expected = {path for path in inside if path[: len(walk)] == tuple(walk)}
    assert [tuple(walk[: length + 1]) in inside for length in range(len(walk))] == hits
    assert {prefixes.extend(ROOT, path) for path in expected} | {trie.root.prefix} == {
        node.prefix for node in trie.root.below()
    }
    assert len(trie) == len(list(trie.root.below()))
    assert len(walk) == trie.root.position


def test_an_orphan_is_adopted_when_the_root_passes_where_it_hangs() -> None:
    """An edge whose parent never came is reached when its parent is committed."""
    trie = Trie(ROOT, 9, 0)
    trie.insert(Edge(prefixes.extend(ROOT, (1, 2)), 3, 0.0, 0.5))

    hits = [trie.advance(1), trie.advance(2)]

    assert hits == [False, True]
    assert list(trie.root.children) == [3]


def test_a_full_trie_and_its_orphans_stay_bounded() -> None:
    """However many edges come, at most `capacity` nodes and orphans are kept."""
    trie = Trie(ROOT, 9, 0, capacity=10)
    for token in range(100):
        trie.insert(Edge(ROOT, token, 0.0, 0.5))
        trie.insert(Edge(token + 1, token, 0.0, 0.5))

    assert len(trie) == 10
    assert trie._orphaned <= 10


def test_likelihood_is_the_product_of_chances_from_the_root() -> None:
    """Re-rooting makes what lies below certain relative to the new root."""
    trie = Trie(ROOT, 9, 0)
    trie.insert(Edge(ROOT, 1, 0.0, 0.5))
    node = trie.insert(Edge(prefixes.child(ROOT, 1), 2, 0.0, 0.25))
    assert node is not None
    before = trie.likelihood(node)
    trie.advance(1)

    assert abs(before - 0.125) < 1e-12
    assert abs(trie.likelihood(node) - 0.25) < 1e-12


@given(chances=st.lists(st.floats(width=32, allow_nan=False), min_size=1, max_size=200))
def test_whatever_chances_are_claimed_likelihoods_are_probabilities(chances: list[float]) -> None:
    """A foreign drafter may claim anything: no likelihood exceeds its parent's, and none overflows."""
    trie = Trie(ROOT, 9, 0)
    prefix, last = ROOT, 1.0
    for token, chance in enumerate(chances):
        node = trie.insert(Edge(prefix, token, 0.0, chance))
        assert node is not None
        assert 0.0 <= trie.likelihood(node) <= last
        prefix, last = node.prefix, trie.likelihood(node)


@given(moves=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3), st.booleans()), max_size=80))
def test_orphans_are_counted_whatever_comes_and_goes(moves: list[tuple[int, int, bool]]) -> None:
    """Edges below any few tokens, and a root that moves: the count is that of what is kept."""
    trie = Trie(ROOT, 9, 0, capacity=8)
    for depth, token, moves_root in moves:
        if moves_root:
            trie.advance(token)
        trie.insert(Edge(prefixes.extend(trie.root.prefix, [token] * depth), token, 0.0, 0.5))

        assert trie._orphaned == sum(map(len, trie._orphans.values())) <= 8
        assert len(trie) == len(list(trie.root.below())) <= 8
