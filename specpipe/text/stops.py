"""Finding stop strings in text that arrives in pieces (Knuth, Morris and Pratt, 1977)."""

from collections.abc import Sequence

from specpipe.errors import RequestError
from specpipe.text.unicode import require_unicode


class _Progress:
    """How much of one stop string the text ends with."""

    def __init__(self, stop: str) -> None:
        self.stop = stop
        self.matched = 0
        self._shorter = _borders(stop)

    def push(self, character: str) -> bool:
        """Take a character; return whether the stop string is now complete."""
        if self.matched == len(self.stop):
            self.matched = self._shorter[self.matched]
        while self.matched and self.stop[self.matched] != character:
            self.matched = self._shorter[self.matched]
        self.matched += self.stop[self.matched] == character
        return self.matched == len(self.stop)


class StopSearch:
    """Lets text through until a piece completes a stop string; of several, the one that begins earliest counts.

    That is what looking through the whole text after each piece would find. A longer one that has only begun is
    not waited for, since the tokens of the wait would belong to no text. What may be the start of a stop string is
    held back; it is never longer than the longest of them.
    """

    def __init__(self, stops: Sequence[str]) -> None:
        for stop in stops:
            require_unicode(stop, "a stop string")
            if not stop:
                raise RequestError("a stop string is empty; leave it out")
        self._searches = [_Progress(stop) for stop in stops]
        self._held = ""
        self.stopped = False

    def push(self, text: str) -> str:
        """Take more text and return what is certain to come before any stop string."""
        if self.stopped:
            return ""
        if not self._searches:
            return text
        start = len(self._held)
        self._held += text
        found = [begin for end in range(start + 1, len(self._held) + 1) for begin in self._begins(end)]
        self.stopped = bool(found)
        return self._released(min(found) if found else len(self._held) - self._partial())

    def finish(self) -> str:
        """Return the rest: no more text comes that could complete a stop string."""
        return "" if self.stopped else self._released(len(self._held))

    def _begins(self, end: int) -> list[int]:
        """Look at the character before `end`; return where the stop strings begin that it completes."""
        return [end - len(search.stop) for search in self._searches if search.push(self._held[end - 1])]

    def _partial(self) -> int:
        return max(search.matched for search in self._searches)

    def _released(self, end: int) -> str:
        ready, self._held = self._held[:end], self._held[end:]
        return ready


def _borders(stop: str) -> list[int]:
    """Return for each prefix length the length of its longest proper border."""
    borders, length = [0, 0], 0
    for character in stop[1:]:
        while length and stop[length] != character:
            length = borders[length]
        length += stop[length] == character
        borders.append(length)
    return borders
