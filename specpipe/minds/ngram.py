"""Prompt lookup: what followed the last time the same few tokens were seen (Saxena, 2023)."""

from collections.abc import Sequence
from typing import NamedTuple

LONGEST = 4
SHORTEST = 2


class Guess(NamedTuple):
    """The token that followed, and how many tokens before it matched."""

    token: int
    matched: int


class Lookup:
    """Remembers, for each run of 2 to 4 committed tokens, what followed its latest occurrence."""

    def __init__(self, tokens: Sequence[int]) -> None:
        self._tokens: list[int] = []
        self._follows: dict[tuple[int, ...], int] = {}
        self.extend(tokens)

    def extend(self, tokens: Sequence[int]) -> None:
        """Learn from more committed tokens."""
        for token in tokens:
            for length in range(SHORTEST, LONGEST + 1):
                if len(self._tokens) >= length:
                    self._follows[tuple(self._tokens[-length:])] = token
            self._tokens.append(token)

    def guess(self, path: Sequence[int]) -> Guess | None:
        """Return the likely continuation of the committed tokens followed by `path`; the longest match wins."""
        tail = [*self._tokens[-LONGEST:], *path][-LONGEST:]
        for length in range(min(LONGEST, len(tail)), SHORTEST - 1, -1):
            token = self._follows.get(tuple(tail[-length:]))
            if token is not None:
                return Guess(token, length)
        return None
