"""Incremental decoding: token ids in, final text out, exactly what decoding all of them at once would give."""

from collections.abc import Callable
from typing import Any

from specpipe.text.stages import stages_of


class StagedDecoder:
    """A tokenizer's decoder, run step by step; the work for a token does not grow with the answer.

    `piece_of` gives a token's stored piece, or None for one that is skipped. `spec` is the decoder of the
    tokenizer.json. Raises `ModelError` for a decoder that cannot be streamed.
    """

    def __init__(self, piece_of: Callable[[int], str | None], spec: dict[str, Any] | None) -> None:
        self._piece_of = piece_of
        self._stages = stages_of(spec)

    def push(self, token: int) -> str:
        """Take the next token and return the text that no later token can change."""
        piece = self._piece_of(token)
        return "" if piece is None else self._through([piece], 0)

    def finish(self) -> str:
        """Return what is left at the end; half a character becomes U+FFFD."""
        return "".join(self._through(stage.finish(), index + 1) for index, stage in enumerate(self._stages))

    def _through(self, pieces: list[str], start: int) -> str:
        for stage in self._stages[start:]:
            pieces = [ready for piece in pieces for ready in stage.push(piece)]
        return "".join(pieces)
