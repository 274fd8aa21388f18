"""Several answers to one prompt: requests that differ in their seeds alone."""

import secrets
from collections.abc import Callable

from msgspec.structs import replace

from specpipe.errors import RequestError
from specpipe.words.messages import Ask
from specpipe.words.sampling import MAX_CHOICES, choice_seed


def _drawn() -> int:
    return secrets.randbits(64)


def choices(ask: Ask, n: int, draw_seed: Callable[[], int] = _drawn) -> list[Ask]:
    """Return `n` requests, the first with the seed of `ask`, each other with one that follows from it and its number.

    So the first of several answers is the only one of a single request. Where `ask` has no seed, one is drawn for
    all; a single request keeps having none. Raises `RequestError` unless `n` is from 1 to 128.
    """
    if isinstance(n, bool) or not isinstance(n, int):
        raise RequestError(f"n: expected int, got {type(n).__name__}")
    if not 1 <= n <= MAX_CHOICES:
        raise RequestError(f"n: expected int from 1 to {MAX_CHOICES}")
    if n == 1:
        return [ask]
    seed = ask.sampling.seed if ask.seeded else draw_seed()
    return [_with_seed(ask, choice_seed(seed, choice)) for choice in range(n)]


def _with_seed(ask: Ask, seed: int) -> Ask:
    return replace(ask, seeded=True, sampling=replace(ask.sampling, seed=seed))
