"""One request as the drafter sees it."""

from math import exp, inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specpipe.minds.calibration import Calibration, Kind
from specpipe.minds.draft import Draft
from specpipe.words import prefix as prefixes
from specpipe.words.trie import Node
from tests.minds.requests import opening

KIND = Calibration().kind("model", False, 0, 1.0)


def kind(chance: float) -> Kind:
    """Return a kind of guess that is right this often."""
    made = Calibration().kind("model", False, 0, 1.0)
    made.chance = chance
    return made


def draft(*, stop_tokens: tuple[int, ...] = (), room: int = 1000) -> Draft:
    """Return a draft of a prompt of three tokens."""
    return Draft(opening(stop_tokens=stop_tokens), 0, 100, room)


def popped(made: Draft) -> Node:
    """Take the best candidate, which must be there."""
    node = made.pop()
    assert node is not None
    return node


def expand(made: Draft, chances: dict[int, float]) -> Node:
    """Expand the best candidate, as a step would."""
    node = popped(made)
    made.slots.hold(node.prefix)
    for token, chance in chances.items():
        made.guess(node, token, 0.0, kind(chance))
    return node


def test_it_begins_with_the_root_alone() -> None:
    """The last committed token is the first candidate, and certain; then there is none."""
    made = draft()
    certain = made.peek()

    assert certain == 0.0
    assert popped(made) is made.trie.root
    assert made.peek() == -inf
    assert made.output == 0


def test_the_likeliest_guess_is_expanded_first_across_depths() -> None:
    """A likely grandchild goes before an unlikely child."""
    made = draft()
    root = expand(made, {1: 0.7, 2: 0.2})
    child = expand(made, {3: 0.5})

    assert [child.token, child.parent] == [1, root]
    assert exp(made.peek()) == pytest.approx(0.35)
    assert popped(made).token == 3
    assert popped(made).token == 2


def test_a_guess_is_no_node_until_it_is_taken() -> None:
    """What is guessed but never expanded takes no room in the trie."""
    made = draft()
    expand(made, {1: 0.7, 2: 0.2, 3: 0.1})

    assert len(made.trie) == 1
    popped(made)
    assert len(made.trie) == 2


def test_a_stop_token_is_sent_but_nothing_is_drafted_after_it() -> None:
    """The text ends there, so there is nothing to guess."""
    made = draft(stop_tokens=(1,))
    expand(made, {1: 0.9, 2: 0.1})

    assert [guess.token for guess in made.unsent(0.0)] == [1, 2]
    assert popped(made).token == 2
    assert made.peek() == -inf


def test_guesses_are_sent_once_and_unlikely_ones_when_the_root_has_moved() -> None:
    """What was too unlikely becomes likely when the text went there; what died is never sent."""
    made = draft()
    expand(made, {1: 0.5, 2: 0.01})
    expand(made, {3: 0.01, 4: 0.5})

    assert [guess.token for guess in made.unsent(0.02)] == [1, 4]
    assert made.unsent(0.02) == []
    made.commit([1])
    assert made.unsent(0.02) == []
    assert [guess.token for guess in made.unsent(0.0)] == []


def test_what_became_likely_is_sent() -> None:
    """After the root has moved the same guess is likelier."""
    made = draft()
    expand(made, {1: 0.1})
    expand(made, {3: 0.1})
    sent = [guess.token for guess in made.unsent(0.05)]
    made.commit([1])

    assert sent == [1]
    assert [guess.token for guess in made.unsent(0.05)] == [3]


def test_a_deferred_node_is_a_candidate_again_after_the_next_verdict() -> None:
    """What is too far ahead now is not forgotten, nor offered again before the root has moved."""
    made = draft()
    expand(made, {1: 0.9})
    far = popped(made)
    made.defer(far)
    before = made.peek()
    made.commit([1])

    assert before == -inf
    assert popped(made) is far


def test_a_root_after_which_nothing_was_guessed_is_a_candidate_again() -> None:
    """A node whose guesses found no room does not stall the draft once it is the root."""
    made = draft()
    expand(made, {1: 0.9})
    expand(made, {})
    made.commit([1])

    assert popped(made) is made.trie.root


def test_a_full_trie_gives_no_more_nodes() -> None:
    """A candidate that finds no room is None, and nothing breaks."""
    made = draft(room=2)
    expand(made, {1: 0.5, 2: 0.4})
    expand(made, {3: 0.9})

    assert made.pop() is None
    assert len(made.trie) == 2


def test_every_guess_at_a_committed_position_is_learned_from() -> None:
    """Right and wrong ones, also those that were never expanded; positions that nobody drafted teach nothing."""
    made = draft()
    right, wrong = kind(0.5), kind(0.5)
    node = popped(made)
    made.guess(node, 1, 0.0, right)
    made.guess(node, 2, 0.0, wrong)
    made.commit([1, 7])

    assert right.chance > 0.6
    assert wrong.chance < 0.6
    assert (right._tally.trials, wrong._tally.trials) == (1.0, 1.0)


def test_following_returns_the_node_of_a_guess_that_was_made_already() -> None:
    """An n-gram that agrees with the model adds nothing and goes on below it."""
    made = draft()
    root = expand(made, {1: 0.5})
    first, again, other = made.follow(root, 1, KIND), made.follow(root, 1, KIND), made.follow(root, 2, KIND)

    assert first is not None
    assert first is again
    assert first.chance == 0.5
    assert other is not None
    assert [guess.token for guess in made.unsent(0.0)] == [1, 2]


def test_nothing_follows_a_stop_token() -> None:
    """An n-gram that runs over the end of the text is cut there; the stop token itself is sent."""
    made = draft(stop_tokens=(1,))
    root = expand(made, {})

    assert made.follow(root, 1, KIND) is None
    assert [guess.token for guess in made.unsent(0.0)] == [1]


MOVES = st.lists(
    st.one_of(
        st.tuples(st.just("expand"), st.lists(st.integers(0, 3), max_size=3, unique=True)),
        st.tuples(st.just("commit"), st.lists(st.integers(0, 3), min_size=1, max_size=4)),
    ),
    max_size=30,
)


@given(moves=MOVES)
def test_whatever_is_expanded_and_committed_nothing_dead_is_kept(moves: list[tuple[str, list[int]]]) -> None:
    """Slots, expansions, candidates and unsent guesses all belong to living nodes or committed tokens."""
    made = draft()
    tokens = list(made.tokens)
    for move, drawn in moves:
        if move == "commit":
            made.commit(drawn)
            tokens += drawn
        elif made.peek() > -inf and (node := made.pop()):
            _run(made, node)
            for rank, token in enumerate(drawn):
                made.guess(node, token, 0.0, kind(0.6 / (rank + 1)))
        _hold(made, tokens)


def _run(made: Draft, node: Node) -> None:
    """Put what is missing on the way to a node into the slab."""
    for position in range(made.cached, len(made.tokens)):
        made.slots.hold(made.hashes[position])
        made.cover(position)
    for each in made.path(node):
        made.slots.hold(each.prefix)


def _hold(made: Draft, tokens: list[int]) -> None:
    alive = {node.prefix for node in made.trie.root.below()}
    assert made.tokens == tokens
    assert made.hashes[-1] == made.trie.root.prefix == prefixes.extend(prefixes.origin(1), tokens)
    assert set(made.slots) <= alive | set(made.hashes)
    assert made.expanded | set(made.guesses) <= alive
    assert all(made.hashes[position] in made.slots for position in range(made.cached))
    assert made.cached == len(tokens) or made.hashes[made.cached] not in made.slots
    marked = {slot for slot, mark in enumerate(made.base) if mark}
    assert marked == {made.slots[prefix] for prefix in made.hashes[: made.cached]}
    reaches = [-entry[0] for entry in made._frontier]
    assert made.peek() == (max(reaches) - made.trie.root.reach if reaches else -inf)
    assert all(guess.parent.prefix in alive for guess in [*made._fresh, *made._unlikely])
