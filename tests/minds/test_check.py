"""One request as the verifier sees it."""

import pytest

from specpipe.minds import branches
from specpipe.minds.branches import Limits, Node
from specpipe.minds.check import Check
from specpipe.words import prefix as prefixes
from tests.minds.requests import opening


def check(*, max_tokens: int = 100, stop_tokens: tuple[int, ...] = (), committed: tuple[int, ...] = ()) -> Check:
    """Return a request of a prompt of three tokens, all of which but the last are in the slab."""
    made = Check(opening(max_tokens=max_tokens, stop_tokens=stop_tokens, committed=committed), 0, 1.0)
    made.held = len(made.tokens) - 1
    return made


def draft(made: Check, *tokens: int, chance: float = 0.9) -> None:
    """Draft a chain below the root."""
    prefix = made.root.prefix
    for token in tokens:
        made.drafted.add(prefix, token, 0.0, chance)
        prefix = prefixes.child(prefix, token)


def test_prompt_and_committed_tokens_are_counted_apart() -> None:
    """The budget counts what was committed in an earlier life, not the prompt."""
    made = check(max_tokens=10, committed=(1, 2))

    assert (made.prompt, made.output, made.tokens) == (3, 2, [5, 6, 7, 1, 2])
    assert made.log_p == [0.0, 0.0]
    assert made.room(100) == 8
    assert made.room(9) == 4
    assert made.root.prefix == prefixes.extend(prefixes.origin(1), [5, 6, 7, 1, 2])
    assert made.root.position == 4


def test_decoding_waits_for_all_but_the_root_to_be_in_the_slab() -> None:
    """The root's own row is in every pass."""
    made = check()
    made.held = 1
    before = made.decoding
    made.held = 2

    assert not before
    assert made.decoding


def chain_of(made: Check) -> list[Node]:
    """Return the drafted chain, whatever it stops at."""
    return branches.chain(made.drafted, made.root, Limits(10, 100, frozenset()))


@pytest.mark.parametrize(
    ("sampled", "rows"),
    [((1, 2, 3, 4), [0, 1, 2, 3]), ((1, 2, 9, 4), [0, 1, 2]), ((9, 2, 3, 4), [0]), ((1, 8, 8, 8), [0, 1])],
)
def test_a_walk_takes_what_was_right_and_one_more(sampled: tuple[int, ...], rows: list[int]) -> None:
    """The sampled token after the last right node is the correction, or the bonus."""
    made = check()
    draft(made, 1, 2, 3)

    assert made.walk(chain_of(made), sampled) == rows


@pytest.mark.parametrize("at", range(4))
def test_a_walk_ends_with_a_stop_token_wherever_it_lies(at: int) -> None:
    """Also where the drafts go on after it, and where it is the bonus (case A01)."""
    made = check(stop_tokens=(10 + at,))
    draft(made, 10, 11, 12)

    assert made.walk(chain_of(made), [10, 11, 12, 13]) == list(range(at + 1))


def test_a_walk_goes_down_whichever_branch_is_right() -> None:
    """In whatever order the nodes lie in the pass."""
    made = check()
    draft(made, 1, 2)
    draft(made, 5, 6, chance=0.1)
    nodes = branches.tree(made.drafted, made.root, Limits(10, 100, frozenset()))
    sampled = [5, *({1: 9, 2: 9, 5: 6, 6: 7}[node.token] for node in nodes)]
    rows = made.walk(nodes, sampled)

    assert [nodes[row - 1].token for row in rows[1:]] == [5, 6]
    assert [sampled[row] for row in rows] == [5, 6, 7]


def test_a_stop_token_ahead_is_known() -> None:
    """No chain goes on after the draft's first choice if that ends the text."""
    made = check(stop_tokens=(4,))
    before = made.stops_after(made.root)
    draft(made, 9, chance=0.5)
    other = made.stops_after(made.root)
    draft(made, 4)

    assert (before, other, made.stops_after(made.root)) == (False, False, True)


def test_a_commit_moves_the_root_and_says_whether_it_had_been_drafted() -> None:
    """What was checked and right is in the slab; the new root is not."""
    made = check()
    draft(made, 1, 2)
    made.commit([1, 2], [-0.1, -0.2], 100, 3.0)
    hit = not made.missed
    made.commit([9], [-0.3], 100, 4.0)

    assert hit
    assert made.missed
    assert made.tokens == [5, 6, 7, 1, 2, 9]
    assert made.log_p == [-0.1, -0.2, -0.3]
    assert (made.held, made.decoding, made.committed_at) == (5, True, 4.0)


@pytest.mark.parametrize(
    ("tokens", "context", "finish"),
    [((1,), 100, ""), ((1, 4), 100, "stop"), ((1, 2, 3), 100, "length"), ((1, 2), 5, "length"), ((1, 2, 4), 6, "stop")],
)
def test_the_end_is_a_stop_token_or_the_budget_or_the_context(
    tokens: tuple[int, ...], context: int, finish: str
) -> None:
    """A stop token that also fills the budget counts as a stop."""
    made = check(max_tokens=3, stop_tokens=(4,))
    made.commit(list(tokens), [0.0] * len(tokens), context, 1.0)

    assert made.finish == finish
    assert made.decoding == (not finish)
