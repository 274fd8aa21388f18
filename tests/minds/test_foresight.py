"""What the drafter's next step would add."""

import pytest

from specpipe.minds.check import Check
from specpipe.minds.choosing import Candidate, Shape, candidate
from specpipe.minds.foresight import Foresight
from specpipe.words import prefix as prefixes
from specpipe.words.sampling import Mode
from tests.minds.messages import edges
from tests.minds.requests import opening


def check(*chances: float, request: int = 1, mode: Mode = "pipelined", max_tokens: int = 100, nodes: int = 0) -> Check:
    """Return a request with alternatives of these chances drafted after its root."""
    made = Check(opening(request, mode=mode, max_tokens=max_tokens, nodes=nodes), 0, 0.0)
    for token, chance in enumerate(chances):
        made.drafted.add(made.root.prefix, token, 0.0, chance)
    return made


def learned(chance: float, rows: int = 1) -> Foresight:
    """Return what one knows who has long heard steps of so many rows with a first choice of this chance after each."""
    made = Foresight()
    for _ in range(300):
        made.learn(edges([(parent, 0) for parent in range(rows)], chance=chance))
    return made


def gains(made: Foresight, *checks: Check, shape: Shape = "tree") -> list[list[float]]:
    """Return the likelihoods that one more step would add to each request."""
    before = [candidate(each, 1000, shape) for each in checks]
    return [_added(was, then) for was, then in zip(before, made.ahead(before), strict=True)]


def _added(was: Candidate, then: Candidate) -> list[float]:
    known = {id(node) for node in was.nodes}
    return sorted(round(node.likelihood, 3) for node in then.nodes if id(node) not in known)


def test_a_chain_grows_by_its_next_first_choice() -> None:
    """From the root, if nothing is there."""
    made = learned(0.6)

    assert gains(made, check(), shape="chain") == [[pytest.approx(0.6, abs=0.01)]]
    assert gains(made, check(0.5, 0.3), shape="chain") == [[pytest.approx(0.3, abs=0.01)]]


def test_a_tree_grows_after_its_likeliest_ends_all_alternatives() -> None:
    """As many ends as a step has rows."""
    assert len(gains(learned(0.6, rows=1), check(0.5, 0.3))[0]) == 4
    assert len(gains(learned(0.6, rows=2), check(0.5, 0.3))[0]) == 8
    assert max(gains(learned(0.6, rows=1), check(0.5, 0.3))[0]) == pytest.approx(0.3, abs=0.01)


def test_the_rows_of_a_step_go_to_whoever_has_the_likeliest_ends() -> None:
    """Over all requests together."""
    first, second = gains(learned(0.6, rows=1), check(0.5, request=1), check(0.9, request=2))

    assert first == []
    assert len(second) == 4


def test_who_gets_no_more_nodes_does_not_grow() -> None:
    """Sequential and target requests, and what lies at the budget's end."""
    made = learned(0.6)

    assert gains(made, check(0.5, mode="sequential", nodes=3), check(mode="target")) == [[], []]
    assert gains(made, check(0.5, max_tokens=2)) == [[]]


def test_what_is_known_after_a_node_is_not_expected_again() -> None:
    """Only open ends grow."""
    made = check(0.5)
    made.drafted.add(prefixes.child(made.root.prefix, 0), 7, 0.0, 0.5)
    (added,) = gains(learned(0.6), made, shape="chain")

    assert added == [pytest.approx(0.25 * 0.6, abs=0.01)]
