"""What a client of the coordinator receives. Each `Ask` ends in exactly one `Finished` or `Failed`."""

from typing import Annotated, ClassVar, Literal

from msgspec import Meta, Struct, field

from specpipe.words.messages.fields import (
    Count,
    Id,
    Message,
    Model,
    Name,
    Reals,
    Seconds,
    Text,
    Tokens,
    no_reals,
    no_tokens,
)
from specpipe.words.sampling import FinishReason

Share = Annotated[float, Meta(ge=0.0, le=1.0)]


class Stats(Struct, frozen=True, forbid_unknown_fields=True):
    """What one request cost and gained; the formulas are in `coordinator.measures`. Rates lie in 0..1."""

    tokens_per_second: float = 0.0
    passes: Count = 0
    tokens_per_pass: float = 0.0
    acceptance_rate: Share = 0.0
    hit_rate: Share = 0.0
    overlap: Share = 0.0
    verifier_wait_share: Share = 0.0
    efficiency: Share = 0.0
    drafted_tokens: Count = 0
    checked_tokens: Count = 0
    accepted_tokens: Count = 0
    target_passes_saved: Count = 0
    time_to_first_token_s: Seconds = 0.0
    draft_step_ms: float = 0.0
    target_pass_ms: float = 0.0
    accepted_by_depth: tuple[Count, ...] = ()
    checked_by_depth: tuple[Count, ...] = ()


class Started(Message, frozen=True, tag="started"):
    """The request was admitted, with this seed and a prompt of this length."""

    key: Id
    seed: int
    prompt_tokens: Count


class Delta(Message, frozen=True, tag="delta"):
    """More of the answer: text that can no longer change, and the token ids committed since.

    `log_p`, `top_ids` and `top_log_p` are those of `Verdict`.
    """

    FRAMES: ClassVar[dict[str, str]] = {"tokens": "<i4", "log_p": "<f4", "top_ids": "<i4", "top_log_p": "<f4"}
    EQUAL: ClassVar[tuple[tuple[str, ...], ...]] = (("tokens", "log_p"), ("top_ids", "top_log_p"))

    key: Id
    text: Text
    tokens: Tokens
    log_p: Reals
    top_ids: Tokens = field(default_factory=no_tokens)
    top_log_p: Reals = field(default_factory=no_reals)


class Finished(Message, frozen=True, tag="finished"):
    """The answer is whole."""

    key: Id
    finish_reason: FinishReason
    seed: int
    prompt_tokens: Count
    completion_tokens: Count
    stats: Stats


class Failed(Message, frozen=True, tag="failed"):
    """There is no (further) answer: `refused` blames the request, `busy` the moment, `failed` the engine."""

    key: Id
    kind: Literal["refused", "busy", "failed"]
    reason: Text


class WorkerStatus(Struct, frozen=True, forbid_unknown_fields=True):
    """One worker as the coordinator sees it; `beats` counts its signs of life."""

    role: Name
    ready: bool
    pid: Count = 0
    model: Model = ""
    device: Name = ""
    dtype: Name = ""
    threads: Count = 0
    counter: Count = 0
    beats: Count = 0


class Status(Message, frozen=True, tag="status"):
    """What the instance is and does; totals count since its start."""

    version: Name
    serving: bool
    open_requests: Count
    finished_requests: Count
    failed_requests: Count
    committed_tokens: Count
    passes: Count
    checked_tokens: Count
    accepted_tokens: Count
    dropped_frames: Count
    workers: tuple[WorkerStatus, ...]
