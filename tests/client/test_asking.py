"""Requests are built whole, or refused with the name of the field."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from specpipe.client.asking import Options, ask_chat, ask_ids, ask_text
from specpipe.errors import RequestError
from specpipe.words.messages import TO_COORDINATOR
from specpipe.words.messages.codec import Decoder, encode


def test_a_chat_travels_whole() -> None:
    """What was asked for arrives as it was asked, in every field."""
    asked: dict[str, Any] = {
        "min_p": 0.05, "repetition_penalty": 1.2, "presence_penalty": 0.5, "frequency_penalty": -0.5,
        "logit_bias": ((3, 5.0),), "min_tokens": 2, "bad_words": ((3, 4), (5,)), "allowed_ids": (3, 6),
        "top_logprobs": 20,
    }  # fmt: skip
    first = Options("sequential", 0.8, 40, 0.9, 2**64 - 1, 17, 5, "tree", True, ("\n\n", "END"), (3, 4))
    options = replace(first, **asked)

    arrived: Any = Decoder(TO_COORDINATOR).decode(encode(ask_chat([("user", "Why?")], options)))

    assert arrived.chat == (("user", "Why?"),)
    assert (arrived.text, arrived.ids.tolist()) == ("", [])
    assert (arrived.mode, arrived.nodes, arrived.check) == ("sequential", 5, "tree")
    assert (arrived.max_tokens, arrived.ignore_eos) == (17, True)
    assert (arrived.stop, arrived.stop_tokens) == (("\n\n", "END"), (3, 4))
    assert (arrived.sampling.temperature, arrived.sampling.top_k, arrived.sampling.top_p) == (0.8, 40, 0.9)
    assert (arrived.sampling.seed, arrived.seeded) == (2**64 - 1, True)
    assert {name: getattr(arrived.sampling, name) for name in asked} == asked


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
        ({"stop_tokens": (2**31,)}, "stop_tokens"),
        ({"stop": tuple(map(str, range(10_000)))}, "stop"),
        ({"max_tokens": 10**9}, "max_tokens"),
        ({"min_p": 1.5}, "min_p"),
        ({"min_p": math.nan}, "min_p"),
        ({"repetition_penalty": 0.0}, "repetition_penalty"),
        ({"repetition_penalty": math.inf}, "repetition_penalty"),
        ({"presence_penalty": 2.5}, "presence_penalty"),
        ({"frequency_penalty": -2.5}, "frequency_penalty"),
        ({"frequency_penalty": math.nan}, "frequency_penalty"),
        ({"logit_bias": ((3, 101.0),)}, "logit_bias"),
        ({"logit_bias": ((-1, 1.0),)}, "logit_bias"),
        ({"logit_bias": tuple((token, 1.0) for token in range(1025))}, "logit_bias"),
        ({"min_tokens": -1}, "min_tokens"),
        ({"min_tokens": 9, "max_tokens": 8}, "min_tokens"),
        ({"bad_words": ((),)}, "bad_words"),
        ({"bad_words": ((3, -1),)}, "bad_words"),
        ({"allowed_ids": tuple(range(4097))}, "allowed_ids"),
        ({"top_logprobs": 21}, "top_logprobs"),
        ({"top_logprobs": -1}, "top_logprobs"),
    ],
)
def test_what_is_out_of_bounds_is_refused_by_name(changes: dict[str, Any], field: str) -> None:
    """The one sentence of the refusal starts with the field."""
    with pytest.raises(RequestError, match=f"^{field}"):
        ask_text("a", replace(Options(), **changes))


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"max_tokens": "256"}, "max_tokens"),
        ({"max_tokens": 1.5}, "max_tokens"),
        ({"max_tokens": True}, "max_tokens"),
        ({"temperature": "hot"}, "temperature"),
        ({"temperature": True}, "temperature"),
        ({"temperature": None}, "temperature"),
        ({"top_k": 1.5}, "top_k"),
        ({"top_p": "x"}, "top_p"),
        ({"seed": 1.5}, "seed"),
        ({"seed": "7"}, "seed"),
        ({"seed": True}, "seed"),
        ({"seed": False}, "seed"),
        ({"stop": 5}, "stop"),
        ({"stop": "END"}, "stop"),
        ({"stop": (1,)}, "stop"),
        ({"stop": None}, "stop"),
        ({"stop_tokens": 5}, "stop_tokens"),
        ({"stop_tokens": ("a",)}, "stop_tokens"),
        ({"stop_tokens": (True,)}, "stop_tokens"),
        ({"ignore_eos": 1}, "ignore_eos"),
        ({"ignore_eos": "no"}, "ignore_eos"),
        ({"mode": None}, "mode"),
        ({"nodes": 1.5}, "nodes"),
        ({"min_p": "x"}, "min_p"),
        ({"presence_penalty": True}, "presence_penalty"),
        ({"logit_bias": {"3": 5}}, "logit_bias"),
        ({"logit_bias": ((3, "x"),)}, "logit_bias"),
        ({"logit_bias": ((3, None),)}, "logit_bias"),
        ({"min_tokens": 1.5}, "min_tokens"),
        ({"bad_words": ((1.5,),)}, "bad_words"),
        ({"bad_words": (3,)}, "bad_words"),
        ({"allowed_ids": ("a",)}, "allowed_ids"),
        ({"top_logprobs": True}, "top_logprobs"),
    ],
)
def test_what_is_of_another_type_is_refused_by_name(changes: dict[str, Any], field: str) -> None:
    """Nothing is turned into a default, or into what it might have meant (case E17)."""
    with pytest.raises(RequestError, match=rf"^{field}: expected "):
        ask_text("a", replace(Options(), **changes))


@pytest.mark.parametrize("text", [5, None, b"a", ["a"]])
def test_a_text_that_is_none_is_refused(text: Any) -> None:
    """Only text can be continued as text."""
    with pytest.raises(RequestError, match=r"^prompt: expected text, got "):
        ask_text(text, Options())


@pytest.mark.parametrize(
    "chat", ["hi", None, [5], [("user",)], [("user", 5)], [("user", "a", "b")], [{"role": "user"}]]
)
def test_a_chat_that_is_none_is_refused(chat: Any) -> None:
    """A chat is pairs of role and content."""
    with pytest.raises(RequestError, match=r"^chat: expected a list of \(role, content\)"):
        ask_chat(chat, Options())


@pytest.mark.parametrize("seed", [0, 7, 2**31, 2**63 - 1, 2**63, 2**64 - 1])
def test_every_seed_of_64_bits_is_taken(seed: int) -> None:
    """Also those that a signed integer could not hold (case E10)."""
    ask = ask_text("a", Options(seed=seed))

    assert (ask.sampling.seed, ask.seeded) == (seed, True)


@pytest.mark.parametrize("seed", [-1, 2**64, -(2**63) - 1, 10**100])
def test_seeds_beyond_64_bits_are_refused(seed: int) -> None:
    """They are never cut down to size."""
    with pytest.raises(RequestError, match=r"^seed must be from 0 to 2\*\*64 - 1$"):
        ask_text("a", Options(seed=seed))


def test_a_nul_is_a_character_like_others() -> None:
    """In a prompt and in a stop string (case E06)."""
    ask = ask_text("a\0b", Options(stop=("\0",)))

    assert (ask.text, ask.stop) == ("a\0b", ("\0",))


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


def test_ids_may_come_from_an_array() -> None:
    """Whatever whole numbers they are made of."""
    assert ask_ids(np.array([3, 4], np.int64), Options()).ids.tolist() == [3, 4]  # type: ignore[arg-type]


@pytest.mark.parametrize("ids", [[-1], [2**31], [1.5], ["a"], [True], "ab", 5, None, np.array([0.5])])
def test_what_is_no_token_id_is_refused(ids: Any) -> None:
    """A token id is a whole number, and fits where tokens travel; nothing is rounded."""
    with pytest.raises(RequestError, match=r"^ids"):
        ask_ids(ids, Options())
