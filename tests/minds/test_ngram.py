"""Prompt lookup."""

from hypothesis import given
from hypothesis import strategies as st

from specpipe.minds.ngram import LONGEST, SHORTEST, Guess, Lookup

TOKENS = st.lists(st.integers(0, 2), max_size=30)


def naive(tokens: list[int], path: list[int]) -> Guess | None:
    """Search all committed tokens for the longest, then latest, occurrence of the tail."""
    for length in range(LONGEST, SHORTEST - 1, -1):
        tail = [*tokens, *path][-length:]
        for at in range(len(tokens) - length - 1, -1, -1):
            if len(tail) == length and tokens[at : at + length] == tail:
                return Guess(tokens[at + length], length)
    return None


@given(tokens=TOKENS, more=TOKENS, path=st.lists(st.integers(0, 2), max_size=6))
def test_the_longest_then_latest_match_says_what_follows(tokens: list[int], more: list[int], path: list[int]) -> None:
    """What is learned bit by bit is what a search of the whole text finds."""
    lookup = Lookup(tokens)
    lookup.extend(more)

    assert naive([*tokens, *more], path) == lookup.guess(path)


def test_a_guess_continues_drafted_tokens_too() -> None:
    """A chain is followed through tokens that are not committed yet."""
    lookup = Lookup([1, 2, 3, 4, 1, 2])

    assert lookup.guess([]) == Guess(3, 2)
    assert lookup.guess([3]) == Guess(4, 3)
    assert lookup.guess([9]) is None
