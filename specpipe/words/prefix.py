"""The 64-bit rolling hash that names a prefix: a request and every token since.

Two edges with the same key continue the same text, so an edge proves its own validity by its key.
The mixing step is the finaliser of SplitMix64 (Steele, Lea, Flood, 2014).
"""

from collections.abc import Iterable

MASK = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15


def _mix(value: int) -> int:
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & MASK
    return value ^ (value >> 31)


def origin(request: int) -> int:
    """Return the hash of the empty prefix of a request."""
    return _mix((request * _GOLDEN + 1) & MASK)


def child(prefix: int, token: int) -> int:
    """Return the hash of `prefix` followed by one token."""
    return _mix((prefix + (token + 1) * _GOLDEN) & MASK)


def extend(prefix: int, tokens: Iterable[int]) -> int:
    """Return the hash of `prefix` followed by all of `tokens`."""
    for token in tokens:
        prefix = child(prefix, token)
    return prefix
