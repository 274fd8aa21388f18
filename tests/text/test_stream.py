"""Streamed text equals decoding everything at once, cut at the earliest stop string."""

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specpipe.errors import ModelError, RequestError
from specpipe.text.seam import Tokenizer
from specpipe.text.simulated import SimulatedTokenizer
from specpipe.text.stream import TextStream
from specpipe.text.tokenizer import StoredTokenizer, load
from tests.text import kinds

STOPS = ["a", "ab", "b b", "abab", "\ufffd", " ", "  ", "😀", "日", "b a", ".", "t1 t", "éé", "ca", "bca", "<tool"]


@pytest.fixture(scope="session")
def tokenizers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, StoredTokenizer]:
    """Return a tokenizer of each kind."""
    folder = tmp_path_factory.mktemp("kinds")
    return {name: load(kinds.write(build(), folder / name)) for name, build in kinds.KINDS.items()}


def cut(text: str, stops: tuple[str, ...]) -> str:
    """Return the text before the earliest place where any stop string begins."""
    found = [text.find(stop) for stop in stops if stop in text]
    return text[: min(found)] if found else text


def first_cut(parts: list[str], stops: tuple[str, ...]) -> str:
    """Return the text of the parts up to the first that completes a stop string, cut where one begins."""
    texts = ["".join(parts[:count]) for count in range(1, len(parts) + 1)]
    return next((cut(text, stops) for text in texts if cut(text, stops) != text), texts[-1])


def streamed(tokenizer: Tokenizer, tokens: list[int], stops: tuple[str, ...] = ()) -> tuple[list[str], TextStream]:
    """Return the parts of the text, the last from `finish`."""
    stream = TextStream(tokenizer, stops)
    return [*(stream.push(token) for token in tokens), stream.finish()], stream


def tokens_of(size: int) -> st.SearchStrategy[list[int]]:
    """Draw token ids, the rarer kinds at both ends of the vocabulary as often as the many bytes."""
    return st.lists(st.integers(0, size + 2) | st.integers(0, 25) | st.integers(size - 10, size - 1), max_size=40)


@pytest.mark.parametrize("kind", kinds.KINDS)
@settings(max_examples=400, deadline=None)
@given(data=st.data())
def test_joined_parts_equal_the_whole(kind: str, tokenizers: dict[str, StoredTokenizer], data: st.DataObject) -> None:
    """For any tokens, valid text or not, and any stops, the stream is the whole text, cut at the first stop."""
    tokenizer = tokenizers[kind]
    tokens = data.draw(tokens_of(tokenizer.size))
    stops = tuple(data.draw(st.lists(st.sampled_from(STOPS), max_size=4)))
    whole = tokenizer.decode(tokens)

    parts, stream = streamed(tokenizer, tokens, stops)
    uncut, _ = streamed(tokenizer, tokens)

    assert "".join(uncut) == whole
    assert "".join(parts) == first_cut(uncut, stops)
    assert stream.stopped == any(stop in whole for stop in stops)


@pytest.mark.parametrize("kind", kinds.KINDS)
@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_parts_never_have_to_be_taken_back(
    kind: str, tokenizers: dict[str, StoredTokenizer], data: st.DataObject
) -> None:
    """What was let through after some tokens begins the text of every longer answer, however it goes on."""
    tokenizer = tokenizers[kind]
    tokens, others = data.draw(tokens_of(tokenizer.size)), data.draw(tokens_of(tokenizer.size))
    stops = tuple(data.draw(st.lists(st.sampled_from(STOPS), max_size=2)))
    shown = "".join(streamed(tokenizer, tokens, stops)[0][:-1])

    assert first_cut(streamed(tokenizer, [*tokens, *others])[0], stops).startswith(shown)


@pytest.mark.parametrize("text", ["a😀b", "日本語", "🇩🇪🇯🇵", "👩\u200d👩\u200d👧", "é"])
@pytest.mark.parametrize("kind", ["byte_level", "llama"])
def test_characters_split_over_tokens_arrive_whole(
    kind: str, text: str, tokenizers: dict[str, StoredTokenizer]
) -> None:
    """Emoji, CJK and flags, a byte a token, are never shown in halves (case E01)."""
    tokenizer = tokenizers[kind]
    ids = tokenizer._library.get_vocab()
    tokens = [ids[token] for token in _bytes_of(kind, text.encode())]
    parts, _ = streamed(tokenizer, tokens)

    assert "".join(parts) == text
    assert "\ufffd" not in "".join(parts)


def _bytes_of(kind: str, data: bytes) -> list[str]:
    if kind == "llama":
        return [f"<0x{byte:02X}>" for byte in data]
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return [chr(byte) if byte in printable else chr(256 + others.index(byte)) for byte in data]


def test_a_character_that_was_really_cut_is_one_replacement(tokenizers: dict[str, StoredTokenizer]) -> None:
    """An answer that ends inside a character ends as a whole decode of it does."""
    tokenizer = tokenizers["byte_level"]
    tokens = tokenizer.encode("ab😀")[:-1]
    parts, _ = streamed(tokenizer, tokens)

    assert "".join(parts[:-1]) == "ab"
    assert parts[-1] == "\ufffd"


@pytest.mark.parametrize("stops", [("t9 ", "t3 t4"), ("t3 t4", "t9 ")])
def test_the_earliest_stop_wins_whatever_the_order_of_the_list(stops: tuple[str, ...]) -> None:
    """The text ends before the first match, which spans two tokens, and not at a later one (case A03)."""
    parts, stream = streamed(SimulatedTokenizer(), [1, 2, 3, 4, 5, 9, 9], stops)

    assert "".join(parts) == "t1 t2 "
    assert stream.stopped


def test_a_stream_says_at_once_that_it_stopped() -> None:
    """After the token that completes the stop string no more tokens are needed."""
    stream = TextStream(SimulatedTokenizer(), ("t2 t3",))
    seen = []
    for token in [1, 2, 3, 4]:
        stream.push(token)
        seen.append(stream.stopped)

    assert seen == [False, False, True, True]


def test_what_may_begin_a_stop_is_held_back_and_given_at_the_end() -> None:
    """A stop string that stays incomplete is ordinary text."""
    parts, stream = streamed(SimulatedTokenizer(), [7, 8], ("t8 t9",))

    assert parts == ["t7 ", "", "t8 "]
    assert not stream.stopped


@pytest.mark.parametrize("bad", ["", "\ud83d"])
def test_impossible_stop_strings_are_refused(bad: str) -> None:
    """An empty stop string, or half a surrogate pair (case E06), is the request's fault."""
    with pytest.raises(RequestError, match="stop string"):
        TextStream(SimulatedTokenizer(), ("x", bad))


def test_the_search_for_stops_holds_back_no_more_than_a_stop(tokenizers: dict[str, StoredTokenizer]) -> None:
    """However long the answer, what waits for a stop string to go on is shorter than the longest of them."""
    choose = random.Random(5)
    for kind in ("byte_level", "gemma", "metaspace"):
        stream = TextStream(tokenizers[kind], ("abcabcabc", "日日日日"))
        tokens = [choose.randrange(tokenizers[kind].size) for _ in range(5000)]

        assert max(_held_after(stream, token) for token in tokens) < 9


def _held_after(stream: TextStream, token: int) -> int:
    stream.push(token)
    return len(stream._search._held)


def test_decoders_that_cannot_be_streamed_are_refused_at_load(tmp_path: Path) -> None:
    """A decoder that needs the end of the answer for its beginning is named in the sentence."""
    from tokenizers import decoders

    with pytest.raises(ModelError, match="'CTC'"):
        load(kinds.write(kinds.byte_fallback(decoders.CTC()), tmp_path))
