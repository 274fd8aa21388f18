"""What a request asks of sampling, and when it ends."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

Token = Annotated[int, Meta(ge=0, le=(1 << 31) - 1)]
Mode = Literal["pipelined", "sequential", "target"]
# In which shape guesses are checked; `auto` leaves it to the verifier.
Shape = Literal["chain", "tree", "auto"]
FinishReason = Literal["stop", "length"]

MAX_SEED = (1 << 64) - 1
MAX_TOKENS = 1 << 20
# The K of the papers, for sequential requests that do not say.
SEQUENTIAL_NODES = 5


class Sampling(Struct, frozen=True, forbid_unknown_fields=True):
    """How one token is chosen from the target's logits. Temperature 0 is greedy.

    `top_k` 0 keeps all tokens. The seed is any integer from 0 to 2**64 - 1.
    """

    temperature: Annotated[float, Meta(ge=0.0, le=100.0)] = 0.0
    top_k: Annotated[int, Meta(ge=0, le=1 << 31)] = 0
    top_p: Annotated[float, Meta(gt=0.0, le=1.0)] = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        # msgspec bounds integers only within 64 signed bits.
        if not 0 <= self.seed <= MAX_SEED:
            raise ValueError("seed must be from 0 to 2**64 - 1")

    @property
    def greedy(self) -> bool:
        """Whether the best token is taken without noise."""
        return self.temperature == 0.0


class Ending(Struct, frozen=True, forbid_unknown_fields=True):
    """When a request ends: one of `stop_tokens` was committed, or `max_tokens` tokens were."""

    max_tokens: Annotated[int, Meta(ge=1, le=MAX_TOKENS)]
    stop_tokens: Annotated[tuple[Token, ...], Meta(max_length=256)] = ()
