"""The answers to one request, as they come."""

from collections import deque
from collections.abc import Callable, Iterator
from typing import Self

from specpipe.words.messages import Delta, Failed, Finished, Started

Answer = Started | Delta | Finished | Failed


class Answers(Iterator[Answer]):
    """Yields what is in `arrived`, calling `receive` until there is something; the last is `Finished` or `Failed`.

    `leave` is called once: when the last answer was taken, or before that by `close` or by being dropped,
    then with False. A generator would not do: one that was never begun ends without a word.
    """

    def __init__(self, arrived: deque[Answer], receive: Callable[[], None], leave: Callable[[bool], None]) -> None:
        self._arrived = arrived
        self._receive = receive
        self._leave = leave
        self._open = True

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Answer:
        if not self._open:
            raise StopIteration
        try:
            while not self._arrived:
                self._receive()
        except BaseException:
            self.close()
            raise
        answer = self._arrived.popleft()
        if isinstance(answer, Finished | Failed):
            self._end(whole=True)
        return answer

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Give up the rest. A second time does nothing."""
        self._end(whole=False)

    def _end(self, *, whole: bool) -> None:
        if self._open:
            self._open = False
            self._leave(whole)
