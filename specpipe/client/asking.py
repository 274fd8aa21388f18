"""Builds a request from what a user asked for, and refuses what cannot be served, naming the field."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from specpipe.errors import RequestError
from specpipe.minds.fitting import contradiction
from specpipe.wording import objection
from specpipe.words.messages import Ask
from specpipe.words.sampling import Acceptance, Mode, Sampling, Shape

Chat = Sequence[tuple[str, str]]
_MOST_ID = np.iinfo(np.int32).max


@dataclass(frozen=True, slots=True)
class Options:
    """How a request is answered; the meaning and the bounds are those of `words.sampling` and of the message `Ask`.

    Without a seed a fresh one is drawn, and reported with the answer. `max_tokens` 0 goes up to the
    context limit, `nodes` 0 lets the verifier choose. `logit_bias` is what `client.biases` makes of a mapping.
    """

    mode: Mode = "pipelined"
    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int | None = None
    max_tokens: int = 0
    nodes: int = 0
    check: Shape = "chain"
    ignore_eos: bool = False
    stop: tuple[str, ...] = ()
    stop_tokens: tuple[int, ...] = ()
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    logit_bias: tuple[tuple[int, float], ...] = ()
    min_tokens: int = 0
    bad_words: tuple[tuple[int, ...], ...] = ()
    allowed_ids: tuple[int, ...] = ()
    top_logprobs: int = 0
    acceptance: Acceptance = "coupled"


def ask_chat(chat: Chat, options: Options) -> Ask:
    """Ask for the next message of a conversation of (role, content); the chat template is laid over it."""
    if not _is_chat(chat):
        raise RequestError("chat: expected a list of (role, content), both text")
    if not any(content.strip() for _, content in chat):
        raise RequestError("the prompt is empty: say something to be answered")
    return _ask(options, chat=[list(message) for message in chat])


def ask_text(text: str, options: Options) -> Ask:
    """Ask for the continuation of a text, without a chat template."""
    if not isinstance(text, str):
        raise RequestError(f"prompt: expected text, got {type(text).__name__}")
    if not text:
        raise RequestError("the prompt is empty: give a text to be continued")
    return _ask(options, text=text)


def ask_ids(ids: Sequence[int], options: Options) -> Ask:
    """Ask for the continuation of token ids."""
    if not _are_ids(ids):
        raise RequestError("ids: expected token ids, whole numbers from 0 to 2**31 - 1")
    if not len(ids):
        raise RequestError("the prompt is empty: give at least one token id")
    return _ask(options, ids=np.array(ids, np.int32))


def _is_chat(chat: object) -> bool:
    return isinstance(chat, tuple | list) and all(map(_is_message, chat))


def _is_message(message: object) -> bool:
    return isinstance(message, tuple | list) and len(message) == 2 and all(isinstance(part, str) for part in message)


def _are_ids(ids: object) -> bool:
    return isinstance(ids, Sequence | np.ndarray) and all(map(_is_id, ids))


def _is_id(token: object) -> bool:
    if isinstance(token, bool) or not isinstance(token, int | np.integer):
        return False
    return 0 <= int(token) <= _MOST_ID


def _ask(options: Options, **prompt: Any) -> Ask:
    fields = {"chat": [], "text": "", "ids": np.empty(0, np.int32)} | prompt
    fields |= {
        "key": 0,
        "mode": options.mode,
        "sampling": _sampling(options),
        "seeded": options.seed is not None,
        "max_tokens": options.max_tokens,
        "nodes": options.nodes,
        "check": options.check,
        "ignore_eos": options.ignore_eos,
        "stop": options.stop,
        "stop_tokens": options.stop_tokens,
    }
    try:
        ask = msgspec.convert(fields, Ask)
    except msgspec.ValidationError as error:
        raise RequestError(_sentence(error)) from error
    if reason := contradiction(ask):
        raise RequestError(reason)
    _refuse_surrogates(ask)
    return ask


def _sampling(options: Options) -> dict[str, Any]:
    asked = {name: getattr(options, name) for name in Sampling.__struct_fields__}
    return asked | {"seed": 0 if options.seed is None else options.seed}


def _refuse_surrogates(ask: Ask) -> None:
    """A lone surrogate (what is left of bytes that are not UTF-8) has no place in a message."""
    words = [word for message in ask.chat for word in message]
    for name, texts in (("prompt", [ask.text, *words]), ("stop", ask.stop)):
        try:
            "".join(texts).encode("utf-8")
        except UnicodeEncodeError as error:
            raise RequestError(f"{name}: the text is not valid UTF-8") from error


def _sentence(error: msgspec.ValidationError) -> str:
    """Name the field as the user does, who knows nothing of the parts of a message."""
    path, what = objection(error)
    name = re.sub(r"\[.*?\]", "", path).rpartition(".")[2]
    return what if name in {"", "sampling"} else f"{name}: {what}"
