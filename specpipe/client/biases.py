"""Biases as people write them: token ids, which may be text, with numbers."""

import reprlib
from collections.abc import Iterable, Mapping

from specpipe.errors import RequestError
from specpipe.words.sampling import MAX_BIAS

_MOST_ID = (1 << 31) - 1


def biases(given: Mapping[object, object]) -> tuple[tuple[int, float], ...]:
    """Return what `Options.logit_bias` takes, by rising token; raise `RequestError` that names the entry."""
    if not isinstance(given, Mapping):
        raise RequestError(f"logit_bias: expected token ids with numbers, got {type(given).__name__}")
    return paired(given.items())


def paired(given: Iterable[tuple[object, object]]) -> tuple[tuple[int, float], ...]:
    """Return the same for pairs of a token and its bias."""
    found: dict[int, float] = {}
    for key, value in given:
        token = _token(key)
        if token in found:
            raise RequestError(f"logit_bias: token {token} is there twice")
        found[token] = _bias(key, value)
    return tuple(sorted(found.items()))


def _token(key: object) -> int:
    token = int(key) if isinstance(key, str) and key.isascii() and key.isdigit() and len(key) <= 10 else key
    if isinstance(token, bool) or not isinstance(token, int) or not 0 <= token <= _MOST_ID:
        raise RequestError(f"logit_bias: {_shown(key)} is no token id, a whole number from 0 to {_MOST_ID}")
    return token


def _bias(key: object, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise RequestError(f"logit_bias: token {_shown(key)} has {_shown(value)}; a bias is a number")
    # A NaN is within nothing.
    if not -MAX_BIAS <= value <= MAX_BIAS:
        raise RequestError(
            f"logit_bias: token {_shown(key)} has {_shown(value)}; a bias is from -{MAX_BIAS:g} to {MAX_BIAS:g}"
        )
    return float(value)


def _shown(value: object) -> str:
    try:
        return reprlib.repr(value)
    except ValueError:  # an integer of more digits than Python writes
        return "a huge number"
