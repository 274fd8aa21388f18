"""How a child notices that its supervisor is gone, however it went: the pipe between them closes.

A thread waits for that, so that a process which is busy loading a model ends as well.
"""

import ctypes
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable

GRACE_S = 2.0
_TRY_AGAIN = 75
_PR_SET_PDEATHSIG = 1


def _nothing() -> None:
    return None


class Lifeline:
    """Watches the pipe `fd`, whose other end the supervisor holds; any number may watch the same pipe.

    Nothing is ever written to it. When it closes, `end` is called (from the watching thread). If the
    process is still there `grace_s` seconds later, `last` is called and the process exits with status 75.
    """

    def __init__(
        self,
        fd: int,
        end: Callable[[], None] = _nothing,
        *,
        last: Callable[[], None] = _nothing,
        grace_s: float = GRACE_S,
    ) -> None:
        self._fd = fd
        self._end = end
        self._last = last
        self._grace_s = grace_s
        threading.Thread(target=self._watch, name="lifeline", daemon=True).start()

    @property
    def lost(self) -> bool:
        """Whether the supervisor is gone."""
        return bool(select.select([self._fd], [], [], 0)[0])

    def _watch(self) -> None:
        while os.read(self._fd, 64):
            pass
        try:
            self._end()
            time.sleep(self._grace_s)
            self._last()
        finally:
            os._exit(_TRY_AGAIN)


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent thread ends (Linux; elsewhere the lifeline must do)."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
