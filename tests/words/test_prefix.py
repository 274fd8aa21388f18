"""A prefix is named by its request and every token since."""

from hypothesis import given
from hypothesis import strategies as st

from specpipe.words.prefix import MASK, child, extend, origin

REQUESTS = st.integers(0, 1 << 62)
TOKENS = st.integers(0, (1 << 31) - 1)
TEXTS = st.lists(TOKENS, max_size=20)


@given(REQUESTS, TEXTS, TEXTS)
def test_extending_in_two_parts_is_extending_at_once(request: int, first: list[int], second: list[int]) -> None:
    """The hash rolls: it needs the hash so far and the new tokens, not the text."""
    assert extend(extend(origin(request), first), second) == extend(origin(request), first + second)


@given(REQUESTS, TEXTS)
def test_a_hash_fits_in_64_bits(request: int, text: list[int]) -> None:
    """Hashes travel as unsigned 64-bit integers."""
    assert 0 <= extend(origin(request), text) <= MASK


@given(st.tuples(REQUESTS, TEXTS), st.tuples(REQUESTS, TEXTS))
def test_different_texts_have_different_hashes(one: tuple[int, list[int]], other: tuple[int, list[int]]) -> None:
    """Another request, another token, another order or another length gives another name."""
    same = extend(origin(one[0]), one[1]) == extend(origin(other[0]), other[1])

    assert same == (one == other)


def test_a_million_neighbours_do_not_collide() -> None:
    """Children of near prefixes, the likeliest to meet in one trie, keep apart."""
    prefixes = [origin(request) for request in range(1000)]
    hashes = {child(prefix, token) for prefix in prefixes for token in range(1000)}

    assert len(hashes) == 1_000_000


def test_the_bits_are_fixed() -> None:
    """Drafter and verifier may run on different hosts, so the numbers are part of the protocol.

    SplitMix64 seeded with 0 yields 0xe220a8397b1dcdaf first, which is its finaliser at the golden constant:
    that is the hash of an empty prefix 0 followed by token 0.
    """
    assert child(0, 0) == 0xE220A8397B1DCDAF
    assert extend(0, [0]) == 0xE220A8397B1DCDAF
