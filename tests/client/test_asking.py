"""Requests are built whole, or refused with the name of the field."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from specpipe.client.asking import Options, ask_chat, ask_ids, ask_text
from specpipe.errors import RequestError
from specpipe.words.messages import TO_COORDINATOR
from specpipe.words.messages.codec import Decoder, encode


def test_a_chat_travels_whole() -> None:
    """What was asked for arrives as it was asked, in every field."""
    options = Options("sequential", 0.8, 40, 0.9, 2**64 - 1, 17, 5, True, ("\n\n", "END"), (3, 4))

    arrived: Any = Decoder(TO_COORDINATOR).decode(encode(ask_chat([("user", "Why?")], options)))

    assert arrived.chat == (("user", "Why?"),)
    assert (arrived.text, arrived.ids.tolist()) == ("", [])
    assert (arrived.mode, arrived.nodes, arrived.max_tokens, arrived.ignore_eos) == ("sequential", 5, 17, True)
    assert (arrived.stop, arrived.stop_tokens) == (("\n\n", "END"), (3, 4))
    assert (arrived.sampling.temperature, arrived.sampling.top_k, arrived.sampling.top_p) == (0.8, 40, 0.9)
    assert (arrived.sampling.seed, arrived.seeded) == (2**64 - 1, True)


def test_without_a_seed_the_request_says_so() -> None:
    """Seed 0 and no seed are told apart."""
    assert not ask_text("a", Options()).seeded
    assert ask_text("a", Options(seed=0)).seeded


def test_a_prompt_is_exactly_one_kind() -> None:
    """Text and token ids come without chat messages."""
    text, ids = ask_text("Once", Options()), ask_ids([5, 6], Options())

    assert (text.text, text.chat, len(text.ids)) == ("Once", (), 0)
    assert (ids.text, ids.chat, ids.ids.tolist()) == ("", (), [5, 6])


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"temperature": -0.1}, "temperature"),
        ({"temperature": math.nan}, "temperature"),
        ({"temperature": math.inf}, "temperature"),
        ({"top_p": 0.0}, "top_p"),
        ({"top_p": 1.1}, "top_p"),
        ({"top_k": -1}, "top_k"),
        ({"seed": -1}, "seed"),
        ({"seed": 2**64}, "seed"),
        ({"max_tokens": -1}, "max_tokens"),
        ({"max_tokens": 10**30}, "max_tokens"),
        ({"nodes": 5000}, "nodes"),
        ({"mode": "fast"}, "mode"),
        ({"stop": ("",)}, "stop"),
        ({"stop": ("x",) * 17}, "stop"),
        ({"stop": ("\ud83d",)}, "stop"),
        ({"stop_tokens": (-1,)}, "stop_tokens"),
    ],
)
def test_what_is_out_of_bounds_is_refused_by_name(changes: dict[str, Any], field: str) -> None:
    """The one sentence of the refusal starts with the field."""
    with pytest.raises(RequestError, match=f"^{field}"):
        ask_text("a", replace(Options(), **changes))


def test_empty_prompts_are_refused() -> None:
    """There is nothing to answer in an empty or blank chat, an empty text, or no ids."""
    asks: tuple[Callable[[], object], ...] = (
        lambda: ask_chat([("user", " \n")], Options()),
        lambda: ask_chat([], Options()),
        lambda: ask_text("", Options()),
        lambda: ask_ids([], Options()),
    )
    for ask in asks:
        with pytest.raises(RequestError, match=r"^the prompt is empty"):
            ask()


def test_bytes_that_were_no_utf8_are_refused() -> None:
    """A lone surrogate in the prompt is refused before anything is sent."""
    with pytest.raises(RequestError, match=r"^prompt: the text is not valid UTF-8"):
        ask_chat([("user", "caf\udce9")], Options())


@pytest.mark.parametrize("ids", [[-1], [2**31]])
def test_ids_outside_the_range_of_tokens_are_refused(ids: list[int]) -> None:
    """A token id must fit where tokens travel."""
    with pytest.raises(RequestError, match=r"^ids"):
        ask_ids(ids, Options())
