"""What the rest of the house knows of a tokenizer; stored and simulated ones stand behind it alike."""

from collections.abc import Sequence
from typing import Protocol


class Decoder(Protocol):
    """The text of one answer, token by token; its parts joined are what decoding all tokens at once gives."""

    def push(self, token: int) -> str:
        """Take the next token and return the text that no later token can change."""
        ...

    def finish(self) -> str:
        """Return what is left at the end; half a character becomes U+FFFD."""
        ...


class Tokenizer(Protocol):
    """Text to token ids and back."""

    @property
    def size(self) -> int:
        """One more than the highest token id."""
        ...

    @property
    def stop_tokens(self) -> frozenset[int]:
        """The tokens that end an answer by the model's own account."""
        ...

    def encode(self, text: str) -> list[int]:
        """Return the ids of raw text; raise `RequestError` for none at all or for half a surrogate pair."""
        ...

    def chat(self, messages: Sequence[tuple[str, str]]) -> list[int]:
        """Return the ids of a chat of (role, content), up to where the answer begins; raise `RequestError`."""
        ...

    def decode(self, tokens: Sequence[int]) -> str:
        """Return the text of an answer, special tokens left out."""
        ...

    def decoder(self) -> Decoder:
        """Return a fresh decoder for one answer."""
        ...
