"""The made-up language of the simulated pair: what follows a prefix is a pure function of its hash.

The draft's choices after a prefix are `count` different tokens, best first; the true token is the one
of rank r with probability `w[r]`, and none of them with the rest, independently at each prefix.
"""

from collections.abc import Sequence
from itertools import accumulate

from specpipe.words.prefix import child

VOCABULARY = 4096


def choices(prefix: int, count: int) -> list[int]:
    """Return the draft's `count` choices after `prefix`, best first."""
    start = child(prefix, 1)
    return [(start + rank) % VOCABULARY for rank in range(count)]


def truth(prefix: int, w: Sequence[float]) -> int:
    """Return the token that the target continues `prefix` with."""
    chance = child(prefix, 2) / 2**64
    rank = next((rank for rank, upto in enumerate(accumulate(w)) if chance < upto), len(w))
    return choices(prefix, len(w) + 1)[rank]
