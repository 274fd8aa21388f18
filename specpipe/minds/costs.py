"""How long a verifier pass of a given width takes, learned from the passes themselves."""

from bisect import bisect_left
from itertools import accumulate

_WEIGHT = 0.2


class PassCosts:
    """T(rows) in seconds: measured widths are averaged, others interpolated, none dearer than a wider one."""

    def __init__(self, measured: dict[int, float]) -> None:
        if not measured:
            raise ValueError("at least one width must have been measured")
        self._measured = dict(measured)
        self._smooth()

    def observe(self, rows: int, seconds: float) -> None:
        """Learn from one pass. A far slower one than expected counts as no slower than twice that: machines hiccup."""
        expected = self._measured.get(rows, self.seconds(rows))
        weight = _WEIGHT if rows in self._measured else 1.0
        self._measured[rows] = expected + weight * (min(seconds, 2 * expected) - expected)
        self._smooth()

    def seconds(self, rows: int) -> float:
        """Return the expected duration of a pass with `rows` rows."""
        at = bisect_left(self._widths, rows)
        if at == len(self._widths):
            return self._beyond(rows)
        if self._widths[at] == rows or at == 0:
            return self._seconds[at]
        return self._on_line(at - 1, at, rows)

    def _smooth(self) -> None:
        """A pass could be padded to any wider one, so it takes no longer than that."""
        self._widths = sorted(self._measured)
        widest_first = (self._measured[width] for width in reversed(self._widths))
        self._seconds = list(accumulate(widest_first, min))[::-1]

    def _beyond(self, rows: int) -> float:
        last = len(self._widths) - 1
        return self._on_line(last - 1, last, rows) if last else self._seconds[0]

    def _on_line(self, low: int, high: int, rows: int) -> float:
        share = (rows - self._widths[low]) / (self._widths[high] - self._widths[low])
        return self._seconds[low] + share * (self._seconds[high] - self._seconds[low])
