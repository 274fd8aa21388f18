"""The text of one answer as it may be shown: characters whole, special tokens skipped, cut at a stop string."""

from specpipe.text.seam import Tokenizer
from specpipe.text.stops import StopSearch


class TextStream:
    """Turns committed tokens into text that can no longer change.

    All parts joined equal `tokenizer.decode` of all tokens up to the first that completes one of the `stops`, cut
    where the earliest of them begins.
    Raises `RequestError` for an empty stop string or one with half a surrogate pair.
    """

    def __init__(self, tokenizer: Tokenizer, stops: tuple[str, ...] = ()) -> None:
        self._decoder = tokenizer.decoder()
        self._search = StopSearch(stops)

    @property
    def stopped(self) -> bool:
        """Whether a stop string was reached; no more text comes after that."""
        return self._search.stopped

    def push(self, token: int) -> str:
        """Take the next committed token and return the text that is certain now."""
        return "" if self.stopped else self._search.push(self._decoder.push(token))

    def finish(self) -> str:
        """Return the rest of the text when the answer ends."""
        return "" if self.stopped else self._search.push(self._decoder.finish()) + self._search.finish()
