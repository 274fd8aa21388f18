"""The tokenizer of the simulated pair: token 7 reads "t7 ", and any word has a token."""

import zlib
from collections.abc import Sequence

from specpipe.errors import RequestError
from specpipe.text.unicode import require_unicode


class SimulatedDecoder:
    """Every token is a word of its own, so nothing is held back."""

    def push(self, token: int) -> str:
        """Return the token's word and a space."""
        return f"t{token} "

    def finish(self) -> str:
        """Return nothing: nothing is held back."""
        return ""


class SimulatedTokenizer:
    """Words "t0" to "t4095" are their tokens, other words are hashed to one; there are no stop tokens."""

    stop_tokens: frozenset[int] = frozenset()

    def __init__(self, size: int = 4096) -> None:
        self.size = size

    def encode(self, text: str) -> list[int]:
        """Return one id a word; raise `RequestError` where there is none."""
        require_unicode(text, "the prompt")
        ids = [self._id(word) for word in text.split()]
        if not ids:
            raise RequestError("the prompt is empty; give at least one word")
        return ids

    def chat(self, messages: Sequence[tuple[str, str]]) -> list[int]:
        """Return the ids of all roles and contents in order."""
        if not messages:
            raise RequestError("the chat is empty; give at least one message")
        return self.encode(" ".join(part for message in messages for part in message))

    def decode(self, tokens: Sequence[int]) -> str:
        """Return the words of the tokens."""
        return "".join(f"t{token} " for token in tokens)

    def decoder(self) -> SimulatedDecoder:
        """Return a decoder; it has no memory."""
        return SimulatedDecoder()

    def _id(self, word: str) -> int:
        digits = word[1:]
        if word[0] == "t" and digits.isascii() and digits.isdecimal() and len(digits) < 10 and int(digits) < self.size:
            return int(digits)
        return zlib.crc32(word.encode("utf-8")) % self.size
