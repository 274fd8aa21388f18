"""The options that say how tokens are chosen, and how many answers there are."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from specpipe.client.asking import Options
from specpipe.client.biases import paired
from specpipe.errors import RequestError
from specpipe.settings import SpeculationSettings

Function = TypeVar("Function", bound=Callable[..., Any])

_OPTIONS = (
    click.option("--max-tokens", type=int, default=256, show_default=True, help="0: up to the context limit."),
    click.option("--min-tokens", type=int, default=0, help="Do not end before so many tokens."),
    click.option("--temperature", type=float, default=0.0, show_default=True, help="0 always takes the best token."),
    click.option("--top-p", type=float, default=1.0, show_default=True),
    click.option("--top-k", type=int, default=0, show_default=True, help="0 keeps all tokens."),
    click.option("--min-p", type=float, default=0.0, help="Keep what is this share as likely as the best token."),
    click.option("--repetition-penalty", type=float, default=1.0, help="Over prompt and answer; 1 is none."),
    click.option("--presence-penalty", type=float, default=0.0, help="Once for a token of the answer, -2 to 2."),
    click.option("--frequency-penalty", type=float, default=0.0, help="For each time in the answer, -2 to 2."),
    click.option("--logit-bias", multiple=True, metavar="ID=BIAS", help="Add -100 to 100 to a token; may be repeated."),
    click.option("--bad-words", multiple=True, metavar="IDS", help="Never complete these tokens (5,17); repeatable."),
    click.option("--allowed-ids", multiple=True, metavar="IDS", help="Choose from these tokens only; repeatable."),
    click.option("--seed", type=int, help="0 to 2**64 - 1; else a fresh one is drawn, and reported."),
    click.option("--stop", multiple=True, metavar="TEXT", help="End before this text; may be repeated."),
    click.option("--ignore-eos", is_flag=True, help="Go on where the model would end."),
    click.option("--logprobs", type=int, metavar="N", help="With --json, log-probabilities, and those of the N best."),
    click.option("-n", "--choices", "n", type=int, default=1, show_default=True, help="How many answers, up to 128."),
)
_PLAIN = (
    "temperature", "top_k", "top_p", "min_p", "seed", "max_tokens", "min_tokens", "ignore_eos", "stop",
    "repetition_penalty", "presence_penalty", "frequency_penalty",
)  # fmt: skip


def sampling_options(function: Function) -> Function:
    """Add the options."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def options_of(flags: dict[str, Any], speculation: SpeculationSettings) -> Options:
    """Return what was asked for; raise `RequestError` that names the field."""
    return Options(
        mode=speculation.mode,
        check=speculation.check,
        acceptance=speculation.acceptance,
        nodes=speculation.nodes,
        logit_bias=paired(map(_pair, flags["logit_bias"])),
        bad_words=tuple(_ids("bad_words", text) for text in flags["bad_words"]),
        allowed_ids=tuple(token for text in flags["allowed_ids"] for token in _ids("allowed_ids", text)),
        top_logprobs=flags["logprobs"] or 0,
        **{name: flags[name] for name in _PLAIN},
    )


def _pair(text: str) -> tuple[str, float]:
    token, _, bias = text.partition("=")
    try:
        return token, float(bias)
    except ValueError as error:
        raise RequestError(f"logit_bias: expected ID=BIAS, as in 42=-100, got {text!r}") from error


def _ids(name: str, text: str) -> tuple[int, ...]:
    words: Sequence[str] = text.replace(" ", "").split(",")
    if not all(word.isascii() and word.isdigit() and len(word) <= 10 for word in words):
        raise RequestError(f"{name}: expected token ids with commas between them, as in 5,17, got {text!r}")
    return tuple(map(int, words))
