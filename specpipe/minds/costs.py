"""How long a verifier pass of a given width takes, learned from the passes themselves."""

from bisect import bisect_left, insort

_WEIGHT = 0.2


class PassCosts:
    """T(rows) in seconds: measured widths are averaged, others interpolated, none cheaper than a narrower one."""

    def __init__(self, measured: dict[int, float]) -> None:
        if not measured:
            raise ValueError("at least one width must have been measured")
        self._seconds = dict(measured)
        self._widths = sorted(measured)

    def observe(self, rows: int, seconds: float) -> None:
        """Learn from one pass. A far slower one than known counts as no slower than twice that: machines hiccup."""
        known = self._seconds.get(rows)
        if known is None:
            insort(self._widths, rows)
            self._seconds[rows] = seconds
            return
        self._seconds[rows] = known + _WEIGHT * (min(seconds, 2 * known) - known)

    def seconds(self, rows: int) -> float:
        """Return the expected duration of a pass with `rows` rows."""
        at = bisect_left(self._widths, rows)
        if at == len(self._widths):
            return self._beyond(rows)
        if self._widths[at] == rows or at == 0:
            return self._seconds[self._widths[at]]
        return self._between(self._widths[at - 1], self._widths[at], rows)

    def _between(self, low: int, high: int, rows: int) -> float:
        share = (rows - low) / (high - low)
        return self._seconds[low] + share * (self._seconds[high] - self._seconds[low])

    def _beyond(self, rows: int) -> float:
        last = self._widths[-1]
        if len(self._widths) == 1:
            return self._seconds[last]
        before = self._widths[-2]
        slope = max(0.0, (self._seconds[last] - self._seconds[before]) / (last - before))
        return self._seconds[last] + slope * (rows - last)
