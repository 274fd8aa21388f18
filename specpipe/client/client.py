"""A connection to a running instance: asks in, answers out, in one thread and without waiting for the dead."""

from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Self

from msgspec.structs import replace

from specpipe.client.answers import Answer, Answers
from specpipe.clock import now
from specpipe.errors import FrameError, PeerError, RequestError
from specpipe.links.control import ControlLine
from specpipe.links.sockets import Sockets
from specpipe.links.wait import wait
from specpipe.words.messages import (
    TO_CLIENT,
    Ask,
    Cancel,
    Delta,
    Failed,
    Finished,
    Look,
    Message,
    Started,
    Status,
)

_TICK_S = 0.1


def _unchecked() -> None:
    return None


class Client:
    """Speaks to the coordinator at `address`. Several answers may be read in turns; calls come from one thread.

    Long silence is no fault, since a busy verifier may need long; but after `silence_s` the coordinator is
    asked for a sign of life, and without one within `patience_s` `PeerError` is raised. `check` may raise
    earlier, where the caller knows more; it is called ten times a second while waiting.
    """

    def __init__(
        self,
        address: str,
        *,
        check: Callable[[], None] = _unchecked,
        silence_s: float = 2.0,
        patience_s: float = 8.0,
    ) -> None:
        self._address = address
        self._check = check
        self._silence_s = silence_s
        self._patience_s = patience_s
        self._keys = 0
        self._answers: dict[int, deque[Answer]] = {}
        self._statuses: deque[Status] = deque(maxlen=1)
        self._silent_s = 0.0
        self._looked = False
        self._sockets = Sockets()
        try:
            self._line = ControlLine(self._sockets, address, TO_CLIENT)
        except PeerError:
            self._sockets.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def ask(self, ask: Ask) -> Answers:
        """Send the request now, under a key of its own; return its answers, the last one `Finished` or `Failed`.

        Whoever stops reading early (closes the iterator, or leaves it by an exception) cancels the request.
        Raises `RequestError` if it is too long to be sent.
        """
        self._keys += 1
        ask = replace(ask, key=self._keys)
        try:
            self._send(ask)
        except FrameError as error:
            raise RequestError(str(error)) from error
        arrived = self._answers[ask.key] = deque[Answer]()
        return Answers(arrived, self._receive, lambda whole: self._leave(ask.key, whole=whole))

    def cancel(self, key: int) -> None:
        """Give up a request; its answers end with whatever the coordinator says of it."""
        self._line.send(Cancel(key=key))

    def status(self) -> Status:
        """Ask what the instance is and does."""
        self._statuses.clear()
        self._look()
        while not self._statuses:
            self._receive()
        return self._statuses.popleft()

    def close(self) -> None:
        """Give up what is still open, and hang up. A second time does nothing."""
        for key in self._answers:
            self.cancel(key)
        self._answers.clear()
        self._line.close()
        self._sockets.close()

    def _leave(self, key: int, *, whole: bool) -> None:
        if self._answers.pop(key, None) is not None and not whole:
            self.cancel(key)

    def _send(self, message: Message) -> None:
        self._silent_s = 0.0
        if not self._line.send(message):
            raise PeerError(f"the instance at {self._address} takes no more requests; look at it with specpipe status")

    def _receive(self) -> None:
        """Wait a moment for messages, and file what came; raise `PeerError` when the silence has a cause."""
        began = now()
        wait([self._line], _TICK_S)
        messages = self._line.receive()
        for message in messages:
            self._file(message)
        if messages:
            self._silent_s, self._looked = 0.0, False
        else:
            # Only time spent in waiting counts: a caller may have been busy elsewhere.
            self._silent_s += now() - began
            self._check()
            self._judge_silence()

    def _file(self, message: Message) -> None:
        if isinstance(message, Status):
            self._statuses.append(message)
        elif isinstance(message, Started | Delta | Finished | Failed) and message.key in self._answers:
            self._answers[message.key].append(message)

    def _judge_silence(self) -> None:
        if self._silent_s > self._patience_s:
            raise PeerError(f"nobody answers at {self._address}; is the instance still running?")
        if self._silent_s > self._silence_s and not self._looked:
            self._look()

    def _look(self) -> None:
        self._looked = True
        self._line.send(Look())
