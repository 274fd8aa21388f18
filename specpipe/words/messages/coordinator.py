"""What the coordinator receives: from workers on the control link, from clients on theirs.

`Verdict`, which it receives too, is filed under the drafter.
"""

from typing import Annotated, ClassVar

from msgspec import Meta

from specpipe.words.messages.fields import (
    Count,
    Hashes,
    Id,
    Message,
    Model,
    Moments,
    Name,
    Role,
    Seconds,
    Text,
    Tokens,
)
from specpipe.words.sampling import Mode, Sampling, Shape, Token


class Hello(Message, frozen=True, tag="hello"):
    """The first message of a worker: the facts that the coordinator needs before it sends any work.

    `edges` and `verdicts` are the verifier's data link, empty from a drafter. `context` is the most
    positions a request may have, `lanes` the most requests at once.
    """

    role: Role
    protocol: Count
    pid: Count
    model: Model
    fingerprint: Name
    vocabulary: Count
    context: Count
    lanes: Count
    device: Name
    dtype: Name
    threads: Count
    edges: Annotated[str, Meta(max_length=512)] = ""
    verdicts: Annotated[str, Meta(max_length=512)] = ""


class Pulse(Message, frozen=True, tag="pulse"):
    """A sign of life from the working loop itself, with the steps or passes done so far and frames dropped.

    It also says what is open there, so that whatever was lost on the way is noticed: `requests`, each with its life
    and the number of output tokens that are known there. `peer` is where a drafter sends its edges.
    """

    FRAMES: ClassVar[dict[str, str]] = {"requests": "<u8", "lives": "<i4", "outputs": "<i4"}
    EQUAL: ClassVar[tuple[tuple[str, ...], ...]] = (("requests", "lives", "outputs"),)

    role: Role
    counter: Count
    dropped: Count
    at: Seconds
    requests: Hashes
    lives: Tokens
    outputs: Tokens
    peer: Annotated[str, Meta(max_length=512)] = ""


class Steps(Message, frozen=True, tag="steps"):
    """The drafter's busy time: when its recent steps began and ended, and how many edges they made."""

    FRAMES: ClassVar[dict[str, str]] = {"began": "<f8", "ended": "<f8"}
    EQUAL: ClassVar[tuple[tuple[str, ...], ...]] = (("began", "ended"),)

    edges: Count
    began: Moments
    ended: Moments


class Unserved(Message, frozen=True, tag="unserved"):
    """A worker cannot go on with one request; the reason is for the log.

    Without the verifier the request ends; without the drafter it goes on undrafted.
    """

    request: Id
    reason: Text


class Gone(Message, frozen=True, tag="gone"):
    """The supervisor saw process `pid` of a worker end; `final` when the role will not be started again.

    `secret` is what the supervisor wrote into the run folder; from whoever does not know it this means nothing.
    """

    role: Role
    pid: Count
    final: bool
    reason: Text
    secret: Name


class Ask(Message, frozen=True, tag="ask"):
    """One client's request. The prompt is chat messages, or raw text, or token ids; exactly one is given.

    `key` is the client's own name for it and comes back in every answer; it need not be unique between
    clients. `sampling.seed` is used only where `seeded`; else a fresh one is drawn and reported.
    `max_tokens` 0 means up to the context limit.
    """

    FRAMES: ClassVar[dict[str, str]] = {"ids": "<i4"}

    key: Id
    mode: Mode
    sampling: Sampling
    seeded: bool
    max_tokens: Annotated[int, Meta(ge=0, le=1 << 20)]
    nodes: Annotated[int, Meta(ge=0, le=1024)]
    check: Shape
    ignore_eos: bool
    stop: Annotated[tuple[Annotated[str, Meta(min_length=1, max_length=1024)], ...], Meta(max_length=16)]
    stop_tokens: Annotated[tuple[Token, ...], Meta(max_length=64)]
    chat: Annotated[tuple[tuple[Name, Text], ...], Meta(max_length=4096)]
    text: Text
    ids: Tokens


class Cancel(Message, frozen=True, tag="cancel"):
    """A client no longer wants the answer that it named by `key`."""

    key: Id


class Look(Message, frozen=True, tag="look"):
    """Someone asks what the instance is and does; answered by `Status`."""


class Halt(Message, frozen=True, tag="halt"):
    """The supervisor, who knows the `secret` of `Gone`, asks the instance to end."""

    secret: Name
