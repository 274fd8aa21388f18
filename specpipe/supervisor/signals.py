"""Ctrl-C, SIGTERM and a terminal that closes, from before the first process is started until the last has ended."""

import signal
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Self

_NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(BaseException):
    """The user or the system asks to end; no handler of ordinary errors may swallow it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.exit_code = 128 + number


class Interrupts:
    """While open, the first signal that asks to end raises `Interrupted` in the main thread, and a later one calls
    what was given to `hurry_with`: the way out must not be broken off, only shortened.
    """

    def __init__(self) -> None:
        self._hurry: list[Callable[[], None]] = []
        self._before: list[Any] = []
        self._first: int | None = None

    def __enter__(self) -> Self:
        self._before = [signal.signal(number, self._handle) for number in _NUMBERS]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in zip(_NUMBERS, self._before, strict=True):
            signal.signal(number, handler)

    def hurry_with(self, act: Callable[[], None]) -> None:
        """Call `act` at every signal after the first."""
        self._hurry.append(act)

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        if self._first is None:
            self._first = number
            raise Interrupted(number)
        for act in self._hurry:
            act()
