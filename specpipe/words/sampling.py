"""What a request asks of sampling, and when it ends."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from specpipe.words import prefix

Token = Annotated[int, Meta(ge=0, le=(1 << 31) - 1)]
Mode = Literal["pipelined", "sequential", "target"]
# In which shape guesses are checked; `auto` leaves it to the verifier.
Shape = Literal["chain", "tree", "auto"]
FinishReason = Literal["stop", "length"]
# How a drafted token is judged: equal to the target's own pick, or by the ratio test on a draw.
Acceptance = Literal["coupled", "rejection"]

MAX_SEED = (1 << 64) - 1
MAX_TOKENS = 1 << 20
MAX_BIAS = 100.0
MAX_CHOICES = 128
MAX_TOP_LOGPROBS = 20
# The K of the papers, for sequential requests that do not say.
SEQUENTIAL_NODES = 5

_Penalty = Annotated[float, Meta(ge=-2.0, le=2.0)]
_Biased = tuple[Token, Annotated[float, Meta(ge=-MAX_BIAS, le=MAX_BIAS)]]
_Sequence = Annotated[tuple[Token, ...], Meta(min_length=1, max_length=64)]


class Sampling(Struct, frozen=True, forbid_unknown_fields=True):
    """How one token is chosen from the target's logits. Temperature 0 is greedy.

    `top_k` 0 keeps all tokens, `min_p` those whose probability is at least that share of the best one's. The seed is
    any integer from 0 to 2**64 - 1. `repetition_penalty` counts the tokens of prompt and output, the other penalties
    those of the output. `logit_bias` are (token, bias); where a token comes twice the biases add up. Before
    `min_tokens` output tokens no stop token is chosen. No token is chosen that completes one of `bad_words`, nor one
    outside `allowed_ids`, if there are any. `top_logprobs` is how many of the best tokens are told of each position.
    `acceptance` says how drafted tokens are judged: `coupled` gives one text for each seed, `rejection` the
    target's distribution only.
    """

    temperature: Annotated[float, Meta(ge=0.0, le=100.0)] = 0.0
    top_k: Annotated[int, Meta(ge=0, le=1 << 31)] = 0
    top_p: Annotated[float, Meta(gt=0.0, le=1.0)] = 1.0
    seed: int = 0
    min_p: Annotated[float, Meta(ge=0.0, le=1.0)] = 0.0
    repetition_penalty: Annotated[float, Meta(ge=0.01, le=100.0)] = 1.0
    presence_penalty: _Penalty = 0.0
    frequency_penalty: _Penalty = 0.0
    logit_bias: Annotated[tuple[_Biased, ...], Meta(max_length=1024)] = ()
    min_tokens: Annotated[int, Meta(ge=0, le=MAX_TOKENS)] = 0
    bad_words: Annotated[tuple[_Sequence, ...], Meta(max_length=256)] = ()
    allowed_ids: Annotated[tuple[Token, ...], Meta(max_length=4096)] = ()
    top_logprobs: Annotated[int, Meta(ge=0, le=MAX_TOP_LOGPROBS)] = 0
    acceptance: Acceptance = "coupled"

    def __post_init__(self) -> None:
        # msgspec bounds integers only within 64 signed bits.
        if not 0 <= self.seed <= MAX_SEED:
            raise ValueError("seed must be from 0 to 2**64 - 1")

    @property
    def greedy(self) -> bool:
        """Whether the best token is taken without noise, the lowest of several."""
        return self.temperature == 0.0 or self.top_k == 1 or self.min_p == 1.0

    @property
    def drawing(self) -> bool:
        """Whether drafted tokens are drawn, and judged by the ratio test; without chance there is nothing to draw."""
        return self.acceptance == "rejection" and not self.greedy

    @property
    def penalised(self) -> bool:
        """Whether a token's score depends on what was written before."""
        return self.repetition_penalty != 1.0 or self.presence_penalty != 0.0 or self.frequency_penalty != 0.0

    @property
    def ruled(self) -> bool:
        """Whether anything but temperature, top-k, top-p and min-p changes the scores."""
        return bool(self.penalised or self.logit_bias or self.min_tokens or self.bad_words or self.allowed_ids)


class Ending(Struct, frozen=True, forbid_unknown_fields=True):
    """When a request ends: one of `stop_tokens` was committed, or `max_tokens` tokens were."""

    max_tokens: Annotated[int, Meta(ge=1, le=MAX_TOKENS)]
    stop_tokens: Annotated[tuple[Token, ...], Meta(max_length=256)] = ()


def choice_seed(seed: int, choice: int) -> int:
    """Return the seed of one of several answers to a request: the first (0) has the request's own."""
    return prefix.extend(prefix.origin(seed), (choice,)) if choice else seed
