"""The simulated pair's tokenizer reads its own words back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specpipe.errors import RequestError
from specpipe.text.seam import Tokenizer
from specpipe.text.simulated import SimulatedTokenizer
from specpipe.text.stream import TextStream

SIMULATED: Tokenizer = SimulatedTokenizer()


@given(st.lists(st.integers(0, 4095), min_size=1))
def test_text_of_tokens_encodes_to_the_tokens(tokens: list[int]) -> None:
    """Decoding and encoding are inverse, streamed or not."""
    stream = TextStream(SIMULATED)

    assert SIMULATED.encode(SIMULATED.decode(tokens)) == tokens
    assert "".join(map(stream.push, tokens)) + stream.finish() == SIMULATED.decode(tokens)


@given(st.text())
def test_any_words_have_tokens(text: str) -> None:
    """Whatever the words, their ids lie in the vocabulary, always the same; no words are refused."""
    if not text.split():
        with pytest.raises(RequestError, match="empty"):
            SIMULATED.encode(text)
        return

    ids = SIMULATED.encode(text)
    assert ids == SIMULATED.encode(text)
    assert len(ids) == len(text.split())
    assert all(0 <= token < SIMULATED.size for token in ids)


def test_words_beyond_the_vocabulary_are_hashed() -> None:
    """There is no token of its own for "t4096" or for a "t" without a number."""
    assert SIMULATED.encode("t4095") == [4095]
    assert max(SIMULATED.encode("t4096 t99999999999999999999 t t² tx")) < 4096


def test_chats_are_their_words() -> None:
    """Roles and contents follow each other; an empty chat is refused."""
    assert SIMULATED.chat([("t1", "t2 t3"), ("t4", "")]) == [1, 2, 3, 4]
    with pytest.raises(RequestError, match="chat is empty"):
        SIMULATED.chat([])


def test_half_a_surrogate_pair_is_refused() -> None:
    """The simulated pair refuses what real ones refuse (case E06)."""
    with pytest.raises(RequestError, match="surrogate"):
        SIMULATED.encode("x \ud83d")
