"""What the drafter receives beside `Open`, `Close` and `Stop`: where its peer is, and what was committed."""

from typing import ClassVar

from msgspec import field

from specpipe.words.messages.fields import (
    Address,
    Count,
    Id,
    Life,
    Message,
    Name,
    Reals,
    Seconds,
    Tokens,
    no_reals,
    no_tokens,
)


class Peer(Message, frozen=True, tag="peer"):
    """Where the drafter finds the verifier's data link."""

    edges: Address
    verdicts: Address


class Verdict(Message, frozen=True, tag="verdict"):
    """What one pass committed for one request; sent to the drafter (droppable) and the coordinator (reliable).

    `tokens` continue the output at index `start`; all but the last were drafted and accepted, the last
    is the correction or the bonus. `log_p` are the target's raw log-probabilities of the tokens.
    `top_ids` and `top_log_p` are the raw best tokens at each of their places, best first, one place after the other,
    as many at each as the request's `top_logprobs` says.
    `checked` counts the drafted rows of this request in the pass, `chain` those of them on its
    first-choice chain, and `right` those of the chain that were accepted. `hit` says that the new root
    had been drafted. `began` and `ended` are on the host's monotonic clock.
    `finish` is empty while the request goes on.
    """

    FRAMES: ClassVar[dict[str, str]] = {"tokens": "<i4", "log_p": "<f4", "top_ids": "<i4", "top_log_p": "<f4"}
    EQUAL: ClassVar[tuple[tuple[str, ...], ...]] = (("tokens", "log_p"), ("top_ids", "top_log_p"))

    request: Id
    life: Life
    start: Count
    checked: Count
    chain: Count
    right: Count
    hit: bool
    began: Seconds
    ended: Seconds
    finish: Name
    tokens: Tokens
    log_p: Reals
    top_ids: Tokens = field(default_factory=no_tokens)
    top_log_p: Reals = field(default_factory=no_reals)
