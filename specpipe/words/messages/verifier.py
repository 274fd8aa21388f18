"""What the verifier receives: requests from the coordinator, edges from the drafter."""

from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar, Self

import numpy as np
from msgspec import Meta

from specpipe.words.draw import Draw
from specpipe.words.messages.fields import Count, Hashes, Id, Life, Message, Reals, Seconds, Text, Tokens
from specpipe.words.sampling import Ending, Mode, Sampling, Shape


class Open(Message, frozen=True, tag="open"):
    """Start, or after a death resume, a request; sent to both workers.

    `prompt` and `committed` are kept apart, so that the budget and the noise count the right ones.
    A later `life` of the same request replaces the earlier one.
    `nodes` is the number of drafted rows that a pass checks for it as far as there are so many, or 0 to let the
    verifier choose; `check` the shape in which they lie.
    """

    FRAMES: ClassVar[dict[str, str]] = {"prompt": "<i4", "committed": "<i4"}

    request: Id
    life: Life
    mode: Mode
    sampling: Sampling
    ending: Ending
    nodes: Annotated[int, Meta(ge=0, le=1024)]
    check: Shape
    prompt: Tokens
    committed: Tokens


class Close(Message, frozen=True, tag="close"):
    """Forget a request; a request that is not open is no fault."""

    request: Id


class Stop(Message, frozen=True, tag="stop"):
    """End the worker in an orderly way; with a `reason`, because it cannot be used here."""

    reason: Text = ""


class Greet(Message, frozen=True, tag="greet"):
    """Say hello (again): the coordinator does not know this worker."""


class Recall(Message, frozen=True, tag="recall"):
    """Send again what was committed from output index `start` on: the coordinator saw a gap."""

    request: Id
    start: Count


class Edges(Message, frozen=True, tag="edges"):
    """Drafted tokens, each keyed by the hash of the prefix that it continues (see `words.prefix`).

    `chances` are the drafter's estimates that the token is right, given its parent.
    `step_s` is the recent duration of one drafter step. `steps` counts the steps so far.
    """

    FRAMES: ClassVar[dict[str, str]] = {"parents": "<u8", "tokens": "<i4", "log_q": "<f4", "chances": "<f4"}
    EQUAL: ClassVar[tuple[tuple[str, ...], ...]] = (("parents", "tokens", "log_q", "chances"),)

    request: Id
    steps: Count
    step_s: Seconds
    parents: Hashes
    tokens: Tokens
    log_q: Reals
    chances: Reals


class Draws(Message, frozen=True, tag="draws"):
    """Tokens drawn from the draft's distribution, for requests whose guesses are judged by the ratio test.

    Draw i continues the prefix `parents[i]`. The next `counts[i]` of `ids` and `log_q` are the distribution that it was
    drawn from (see `words.draw`).
    """

    FRAMES: ClassVar[dict[str, str]] = {
        "parents": "<u8", "tokens": "<i4", "counts": "<i4", "ids": "<i4", "log_q": "<f4",
    }  # fmt: skip
    EQUAL: ClassVar[tuple[tuple[str, ...], ...]] = (("parents", "tokens", "counts"), ("ids", "log_q"))

    request: Id
    parents: Hashes
    tokens: Tokens
    counts: Tokens
    ids: Tokens
    log_q: Reals

    @classmethod
    def of(cls, request: int, draws: Sequence[tuple[int, Draw]]) -> Self:
        """Return a message of one draw or more, each with the prefix that it continues."""
        return cls(
            request=request,
            parents=np.array([prefix for prefix, _ in draws], np.uint64),
            tokens=np.array([draw.token for _, draw in draws], np.int32),
            counts=np.array([len(draw.ids) for _, draw in draws], np.int32),
            ids=np.concatenate([draw.ids for _, draw in draws]),
            log_q=np.concatenate([draw.log_q for _, draw in draws]),
        )

    def apart(self) -> Iterator[tuple[int, Draw]]:
        """Yield each draw with the prefix that it continues; those that can be none are left out."""
        ends = self.counts.cumsum(dtype=np.int64)
        parts = zip(self.parents.tolist(), self.tokens.tolist(), ends - self.counts, ends, strict=True)
        for prefix, token, start, end in parts:
            draw = Draw(token, self.ids[start:end], self.log_q[start:end])
            if draw.sound:
                yield prefix, draw


class Resync(Message, frozen=True, tag="resync"):
    """Repeat the verdicts of a request from output index `start` on: the drafter saw a gap."""

    request: Id
    start: Count
