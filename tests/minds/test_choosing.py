"""How many drafted rows a pass checks."""

from collections.abc import Callable
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specpipe.minds.check import Check
from specpipe.minds.choosing import MOST_NODES, Candidate, Choice, candidate, choose, choose_shape
from specpipe.words import prefix as prefixes
from specpipe.words.sampling import Mode, Shape
from tests.minds.requests import opening


def drafted(
    chances: list[float], *, request: int = 1, nodes: int = 0, max_tokens: int = 100, mode: Mode = "pipelined"
) -> Check:
    """Return a request with a drafted chain of these chances."""
    check = Check(opening(request, nodes=nodes, max_tokens=max_tokens, mode=mode), 0, 0.0)
    prefix = check.root.prefix
    for token, chance in enumerate(chances):
        check.drafted.add(prefix, token, 0.0, chance)
        prefix = prefixes.child(prefix, token)
    return check


def candidates(*chains: list[float]) -> list[Candidate]:
    """Return requests with these chains."""
    return [candidate(drafted(chances, request=at), 1000, "chain") for at, chances in enumerate(chains)]


def linear(passing: float, row: float) -> Callable[[int], float]:
    """Return a cost that grows by `row` with each row."""
    return lambda rows: passing + row * rows


def test_a_candidate_knows_the_chance_of_reaching_each_node() -> None:
    """The product of the chances on the way."""
    made = candidate(drafted([0.5, 0.5, 0.2]), 1000, "chain")

    assert [node.likelihood for node in made.nodes] == pytest.approx([0.5, 0.25, 0.05])
    assert [node.token for node in made.nodes] == [0, 1, 2]


@pytest.mark.parametrize(
    ("nodes", "max_tokens", "context", "length"),
    [(0, 100, 1000, 5), (3, 100, 1000, 3), (0, 4, 1000, 3), (0, 1, 1000, 0), (0, 100, 6, 2), (0, 100, 4, 0)],
)
def test_a_chain_leaves_room_for_the_targets_own_token(nodes: int, max_tokens: int, context: int, length: int) -> None:
    """Whatever the budget, the context or a fixed number of nodes allow (cases A23, B07)."""
    check = drafted([0.9] * 5, nodes=nodes, max_tokens=max_tokens)

    assert len(candidate(check, context, "chain").nodes) == length


def test_a_target_request_is_never_checked_against_drafts() -> None:
    """Even if edges came for it."""
    assert candidate(drafted([0.9], mode="target"), 1000, "chain").nodes == []


def test_the_longest_chain_is_bounded() -> None:
    """However much was drafted."""
    assert len(candidate(drafted([0.99] * 90, max_tokens=1000), 1000, "chain").nodes) == MOST_NODES


def test_free_rows_are_all_checked_and_dear_ones_only_while_they_pay() -> None:
    """With a flat cost every draft is worth its row; with a steep one none is."""
    made = candidates([0.5] * 5)
    flat, steep = choose(made, linear(1.0, 0.0), 64), choose(made, linear(0.0, 1.0), 64)

    assert flat.takes[0][1] == 5
    assert steep.takes[0][1] == 0
    assert (steep.expected, steep.seconds) == (1.0, 1.0)


def test_a_fixed_number_of_nodes_is_checked_in_any_case() -> None:
    """For experiments: neither their cost nor the bound on rows counts."""
    made = [candidate(drafted([0.01] * 5, nodes=4), 1000, "chain")]
    choice = choose(made, linear(0.0, 1.0), 2)

    assert choice.takes[0][1] == 4
    assert choice.expected == pytest.approx(1.0 + 0.01 + 1e-4 + 1e-6 + 1e-8)


def test_every_request_is_in_the_pass() -> None:
    """Also those without drafts, and whatever the others have."""
    made = candidates([0.9] * 8, [], [0.1])
    choice = choose(made, linear(0.1, 0.2), 4)

    assert [each for each, _ in choice.takes] == made
    assert sum(take for _, take in choice.takes) <= 1


CHAINS = st.lists(st.lists(st.floats(0.05, 1.0), max_size=4), min_size=1, max_size=3)


@given(chains=CHAINS, passing=st.floats(0.01, 2.0), row=st.floats(0.0, 0.5), most=st.integers(1, 16))
def test_the_choice_is_the_best_of_all(chains: list[list[float]], passing: float, row: float, most: int) -> None:
    """No other number of nodes for each request promises more tokens a second, and the bound is kept."""
    made = candidates(*chains)
    seconds = linear(passing, row)
    choice = choose(made, seconds, most)
    rates = []
    for takes in product(*(range(len(each.nodes) + 1) for each in made)):
        rows = len(made) + sum(takes)
        taken = [node for each, take in zip(made, takes, strict=True) for node in each.nodes[:take]]
        expected = len(made) + sum(node.likelihood for node in taken)
        if rows <= max(most, len(made)):
            rates.append(expected / seconds(rows))

    assert choice.rate == pytest.approx(max(rates))
    assert sum(1 + take for _, take in choice.takes) <= max(most, len(made))
    assert choice.seconds == seconds(sum(1 + take for _, take in choice.takes))


def branching(request: int, shape: Shape, *, mode: Mode = "pipelined") -> Check:
    """Return a request with two equally likely first tokens and nothing after them."""
    made = Check(opening(request, check=shape, mode=mode), 0, 0.0)
    for token in (1, 2):
        made.drafted.add(made.root.prefix, token, 0.0, 0.5)
    return made


def widths(choice: Choice) -> list[int]:
    """Return how many nodes each request is checked with."""
    return [take for _, take in choice.takes]


def test_each_request_is_checked_in_the_shape_that_it_asks_for() -> None:
    """Sequential blocks are chains, as their drafts are."""
    ready = [branching(1, "chain"), branching(2, "tree"), branching(3, "tree", mode="sequential")]

    assert widths(choose_shape(ready, 1000, linear(1.0, 0.0), 64)) == [1, 2, 1]


def test_an_open_shape_is_a_tree_where_that_pays() -> None:
    """Where rows are dear it stays a chain, and others keep the shape that they asked for."""
    ready = [branching(1, "auto"), branching(2, "chain")]

    assert widths(choose_shape(ready, 1000, linear(1.0, 0.0), 64)) == [2, 1]
    assert widths(choose_shape([branching(1, "auto")], 1000, linear(1.0, 0.9), 64)) == [1]
    assert widths(choose_shape([branching(1, "auto")], 1000, linear(1.0, 2.0), 64)) == [0]
