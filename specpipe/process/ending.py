"""How a role is asked to end: SIGTERM or a message sets one flag, which its loop looks at."""

import os
import signal
from types import FrameType, TracebackType
from typing import Self

from specpipe.errors import UsageError
from specpipe.words.messages import Stop


class Ending:
    """A flag set by SIGTERM or `ask`; while open it also wakes whoever waits on `descriptor`.

    The handler only takes a note: it may run between any two instructions.
    """

    def __init__(self) -> None:
        self.asked = False
        self.descriptor, self._wake = os.pipe()
        os.set_blocking(self._wake, False)

    def __enter__(self) -> Self:
        self._before = signal.signal(signal.SIGTERM, self._handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        signal.signal(signal.SIGTERM, self._before)
        os.close(self.descriptor)
        os.close(self._wake)

    def ask(self) -> None:
        """Ask for the end."""
        if not self.asked:
            self.asked = True
            os.write(self._wake, b"!")

    def obey(self, stop: Stop) -> None:
        """Take the coordinator's word; raise `UsageError` with its reason where it cannot use this worker."""
        if stop.reason:
            raise UsageError(stop.reason)
        self.ask()

    def _handle(self, _number: int, _frame: FrameType | None) -> None:
        self.ask()
