"""Builds a request from what a user asked for, and refuses what cannot be served, naming the field."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from specpipe.errors import RequestError
from specpipe.words.messages import Ask
from specpipe.words.sampling import Mode

Chat = Sequence[tuple[str, str]]
_AT = re.compile(r"^(?P<what>.*?)(?: - at `\$(?P<path>.*)`)?$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Options:
    """How a request is answered; the bounds are those of `words.sampling` and of the message `Ask`.

    Without a seed a fresh one is drawn, and reported with the answer. `max_tokens` 0 goes up to the
    context limit, `nodes` 0 lets the verifier choose.
    """

    mode: Mode = "pipelined"
    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int | None = None
    max_tokens: int = 0
    nodes: int = 0
    ignore_eos: bool = False
    stop: tuple[str, ...] = ()
    stop_tokens: tuple[int, ...] = ()


def ask_chat(chat: Chat, options: Options) -> Ask:
    """Ask for the next message of a conversation of (role, content); the chat template is laid over it."""
    if not any(content.strip() for _, content in chat):
        raise RequestError("the prompt is empty: say something to be answered")
    return _ask(options, chat=[list(message) for message in chat])


def ask_text(text: str, options: Options) -> Ask:
    """Ask for the continuation of a text, without a chat template."""
    if not text:
        raise RequestError("the prompt is empty: give a text to be continued")
    return _ask(options, text=text)


def ask_ids(ids: Sequence[int], options: Options) -> Ask:
    """Ask for the continuation of token ids."""
    if not ids:
        raise RequestError("the prompt is empty: give at least one token id")
    if min(ids) < 0 or max(ids) > np.iinfo(np.int32).max:
        raise RequestError("ids: a token id is from 0 to 2**31 - 1")
    return _ask(options, ids=np.array(ids, np.int32))


def _ask(options: Options, **prompt: Any) -> Ask:
    fields = {"chat": [], "text": "", "ids": np.empty(0, np.int32)} | prompt
    fields |= {
        "key": 0,
        "mode": options.mode,
        "sampling": _sampling(options),
        "seeded": options.seed is not None,
        "max_tokens": options.max_tokens,
        "nodes": options.nodes,
        "ignore_eos": options.ignore_eos,
        "stop": options.stop,
        "stop_tokens": options.stop_tokens,
    }
    _refuse_surrogates(fields)
    try:
        return msgspec.convert(fields, Ask)
    except msgspec.ValidationError as error:
        raise RequestError(_sentence(str(error))) from error


def _sampling(options: Options) -> dict[str, Any]:
    return {
        "temperature": options.temperature,
        "top_k": options.top_k,
        "top_p": options.top_p,
        "seed": options.seed or 0,
    }


def _refuse_surrogates(fields: dict[str, Any]) -> None:
    """A lone surrogate (what is left of bytes that are not UTF-8) has no place in a message."""
    contents = [content for _, content in fields["chat"]]
    for name, texts in (("prompt", [fields["text"], *contents]), ("stop", fields["stop"])):
        try:
            "".join(texts).encode("utf-8")
        except UnicodeEncodeError as error:
            raise RequestError(f"{name}: the text is not valid UTF-8") from error


def _sentence(message: str) -> str:
    """Turn "Expected `float` >= 0.0 - at `$.sampling.top_p`" into "top_p: expected `float` >= 0.0"."""
    match = _AT.match(message)
    what, path = (match["what"], match["path"]) if match else (message, None)
    name = re.sub(r"\[.*?\]", "", path or "").rpartition(".")[2]
    if not name or name == "sampling":
        return what
    return f"{name}: {what[:1].lower()}{what[1:]}"
