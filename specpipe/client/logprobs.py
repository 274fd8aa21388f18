"""The log-probabilities of committed tokens, token by token."""

from collections.abc import Iterator
from dataclasses import dataclass

from specpipe.words.messages import Delta


@dataclass(frozen=True, slots=True)
class Logprob:
    """A token, its raw log-probability at the target, and the best tokens at its place with theirs, best first."""

    token: int
    log_p: float
    top: tuple[tuple[int, float], ...] = ()


def logprobs(delta: Delta) -> Iterator[Logprob]:
    """Yield what a piece of an answer says of each of its tokens."""
    tokens, log_p = delta.tokens.tolist(), delta.log_p.tolist()
    best = list(zip(delta.top_ids.tolist(), delta.top_log_p.tolist(), strict=True))
    tops = len(best) // max(len(tokens), 1)
    for at, (token, value) in enumerate(zip(tokens, log_p, strict=True)):
        yield Logprob(token, value, tuple(best[at * tops : (at + 1) * tops]))
