"""How long each process has given no sign of life. Pure: what was seen is handed in."""

from collections.abc import Iterable, Mapping

_USUAL_S = 1.0
_LOOKS = 4


class Watch:
    """Counts looks, not seconds: a time in which nobody looked, as when all were stopped, counts against nobody.

    Whoever gives no sign of life at looks over `limit_s` seconds hangs; with a limit of 0 nobody ever does.
    """

    def __init__(self, limit_s: float) -> None:
        self.limit_s = limit_s
        self.every_s = min(_USUAL_S, limit_s / _LOOKS)
        self._beats: dict[int, int] = {}
        self._silent: dict[int, int] = {}

    def look(self, watched: Iterable[int], beats: Mapping[int, int]) -> list[int]:
        """Take in how often each process has beaten so far; return those of `watched` that hang.

        One that `beats` does not name, or names with the same number as before, has given no sign since the last look.
        """
        fresh = {pid for pid, count in beats.items() if count != self._beats.get(pid)}
        self._silent = {pid: 0 if pid in fresh else self._silent.get(pid, 0) + 1 for pid in watched}
        self._beats |= beats
        return [pid for pid, looks in self._silent.items() if looks * self.every_s >= self.limit_s]
