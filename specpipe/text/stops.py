"""Finding the earliest of several stop strings in text that arrives in pieces (Knuth, Morris and Pratt, 1977)."""

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
    """Lets text through up to the earliest stop string, by where it begins; the longer of two may still win.

    Text that may be the start of a stop string is held back; it is never longer than the longest of them.
    """

    def __init__(self, stops: Sequence[str]) -> None:
        for stop in stops:
            require_unicode(stop, "a stop string")
            if not stop:
                raise RequestError("a stop string is empty; leave it out")
        self._searches = [_Progress(stop) for stop in stops]
        self._held = ""
        self._found: int | None = None
        self.stopped = False

    def push(self, text: str) -> str:
        """Take more text and return what is certain to come before any stop string."""
        if self.stopped:
            return ""
        if not self._searches:
            return text
        start = len(self._held)
        self._held += text
        self.stopped = any(self._decided(end) for end in range(start + 1, len(self._held) + 1))
        return self._released(self._sure())

    def finish(self) -> str:
        """Return the rest: no more text comes that could complete a stop string."""
        if self.stopped:
            return ""
        self.stopped = self._found is not None
        return self._released(len(self._held) if self._found is None else self._found)

    def _decided(self, end: int) -> bool:
        """Look at the character before `end`; return whether the earliest stop string is now known."""
        for search in self._searches:
            if search.push(self._held[end - 1]):
                start = end - len(search.stop)
                self._found = start if self._found is None else min(self._found, start)
        return self._found is not None and end - self._partial() >= self._found

    def _sure(self) -> int:
        return self._found if self.stopped and self._found is not None else len(self._held) - self._partial()

    def _partial(self) -> int:
        return max(search.matched for search in self._searches)

    def _released(self, end: int) -> str:
        ready, self._held = self._held[:end], self._held[end:]
        if self._found is not None:
            self._found -= end
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
