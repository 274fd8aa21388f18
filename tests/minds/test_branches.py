"""Drafted nodes in the order in which they are worth checking."""

from hypothesis import given
from hypothesis import strategies as st

from specpipe.minds import branches
from specpipe.minds.branches import Limits, Node
from specpipe.words import prefix as prefixes
from specpipe.words.drafted import Drafted
from specpipe.words.draw import Draw

ROOT = prefixes.origin(1)
FREE = Limits(1000, 1000, frozenset())
Tree = dict[tuple[int, ...], float]


def drafted(tree: Tree) -> Drafted:
    """Return the edges of paths under the root with their chances."""
    made = Drafted()
    for path, chance in tree.items():
        made.add(prefixes.extend(ROOT, path[:-1]), path[-1], 0.0, chance)
    return made


def root() -> Node:
    """Return the last committed token."""
    return Node(ROOT, 9, 4)


def path(node: Node) -> tuple[int, ...]:
    """Return the tokens below the root."""
    return tuple(each.token for each in node.path())


TREE: Tree = {(1,): 0.6, (2,): 0.29, (1, 1): 0.5, (1, 2): 0.4, (2, 1): 0.9, (1, 1, 1): 0.5}


def test_a_chain_follows_the_likeliest_child() -> None:
    """To the end of what was drafted."""
    nodes = branches.chain(drafted(TREE), root(), FREE)

    assert [path(node) for node in nodes] == [(1,), (1, 1), (1, 1, 1)]
    assert [round(node.likelihood, 3) for node in nodes] == [0.6, 0.3, 0.15]
    assert [node.position for node in nodes] == [5, 6, 7]


def test_a_chain_follows_what_was_drawn_rather_than_what_is_likely() -> None:
    """Where nothing was drawn, or the edge of what was drawn is missing, the likeliest as ever."""
    made = drafted(TREE)
    made.draw(ROOT, Draw.certain(2))
    made.draw(prefixes.extend(ROOT, (2,)), Draw.certain(7))

    assert [path(node) for node in branches.chain(made, root(), FREE)] == [(2,), (2, 1)]


def test_a_tree_has_the_likeliest_nodes_first() -> None:
    """Whichever branch they lie on; first choices all the way are marked."""
    nodes = branches.tree(drafted(TREE), root(), FREE)

    assert [path(node) for node in nodes] == [(1,), (1, 1), (2,), (2, 1), (1, 2), (1, 1, 1)]
    assert [node.first for node in nodes] == [True, True, False, False, False, True]


def test_limits_hold_for_chains_and_trees() -> None:
    """In number, in depth, and at stop tokens, which are not checked: nothing is wanted after them."""
    for grown in (branches.chain, branches.tree):
        assert len(grown(drafted(TREE), root(), Limits(2, 1000, frozenset()))) == 2
        assert max(node.position for node in grown(drafted(TREE), root(), Limits(1000, 5, frozenset()))) == 5
        assert grown(drafted(TREE), root(), Limits(0, 1000, frozenset())) == []
    assert branches.chain(drafted(TREE), root(), Limits(1000, 1000, frozenset([1]))) == []
    stopped = branches.tree(drafted(TREE), root(), Limits(1000, 1000, frozenset([1])))
    assert [path(node) for node in stopped] == [(2,)]


PATHS = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=5).map(tuple), max_size=20)


@given(paths=PATHS, data=st.data(), count=st.integers(0, 30))
def test_a_tree_takes_the_best_that_can_be_taken(paths: list[tuple[int, ...]], data: st.DataObject, count: int) -> None:
    """Parents come first, and no node that was left out is likelier than one that was taken."""
    whole = {each[:length] for each in paths for length in range(1, len(each) + 1)}
    tree = {each: data.draw(st.floats(0.1, 1.0)) for each in sorted(whole)}
    every = branches.tree(drafted(tree), root(), FREE)
    some = branches.tree(drafted(tree), root(), Limits(count, 1000, frozenset()))

    assert {path(node) for node in every} == whole
    assert [path(node) for node in some] == [path(node) for node in every[:count]]
    assert [node.likelihood for node in every] == sorted((node.likelihood for node in every), reverse=True)
    assert_parents_come_first(every)


def assert_parents_come_first(nodes: list[Node]) -> None:
    """Fail where a node comes before its parent."""
    seen: set[tuple[int, ...]] = {()}
    for node in nodes:
        assert path(node)[:-1] in seen
        seen.add(path(node))


@given(paths=PATHS, data=st.data(), count=st.integers(0, 30))
def test_depth_first_puts_the_first_choices_at_the_beginning(
    paths: list[tuple[int, ...]], data: st.DataObject, count: int
) -> None:
    """All nodes stay, parents come first, and the beginning is the chain of the likeliest children."""
    whole = {each[:length] for each in paths for length in range(1, len(each) + 1)}
    tree = {each: data.draw(st.sampled_from([0.2, 0.5, 0.9])) for each in sorted(whole)}
    nodes = branches.tree(drafted(tree), root(), Limits(count, 1000, frozenset()))
    ordered = branches.in_depth(root(), nodes)
    first = [node for node in ordered if node.first]

    assert sorted(map(path, ordered)) == sorted(map(path, nodes))
    assert_parents_come_first(ordered)
    assert ordered[: len(first)] == first
