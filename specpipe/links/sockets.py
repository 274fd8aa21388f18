"""The ZeroMQ context of one process: every socket is made here, bounded before it can carry anything."""

from collections.abc import Iterator, Sequence
from math import inf
from typing import Self

import zmq

from specpipe.errors import FrameError
from specpipe.words.messages import Message
from specpipe.words.messages.codec import MAX_FRAME, MAX_HEADER, Decoder, Frames

Socket = zmq.Socket[bytes]
_MOST_FRAMES = 16


class Sockets:
    """One process's context and all sockets made from it; a context manager that closes them."""

    def __init__(self) -> None:
        self._context: zmq.Context[Socket] = zmq.Context()
        self._open: list[Socket] = []

    def open(self, kind: int, *, high_water: int, linger_ms: int) -> Socket:
        """Return a new socket, neither bound nor connected.

        `high_water` bounds the messages queued for each peer in each direction, `linger_ms` how long a
        closed socket may go on to deliver.
        """
        socket = self._context.socket(kind)
        self._open = [*(each for each in self._open if not each.closed), socket]
        socket.setsockopt(zmq.SNDHWM, high_water)
        socket.setsockopt(zmq.RCVHWM, high_water)
        socket.setsockopt(zmq.LINGER, linger_ms)
        socket.setsockopt(zmq.MAXMSGSIZE, max(MAX_HEADER, MAX_FRAME))
        return socket

    def close(self) -> None:
        """Close every socket and then the context, within the longest linger. A second time does nothing."""
        self._context.destroy()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def transmit(socket: Socket, frames: Frames) -> bool:
    """Send all frames or none, without blocking; return False where there is no room, or no such peer."""
    try:
        socket.send_multipart(frames, zmq.NOBLOCK)
    except zmq.Again:
        return False
    except zmq.ZMQError as error:
        if error.errno == zmq.EHOSTUNREACH:
            return False
        raise
    return True


class Inbox:
    """The receiving side of one socket: takes what has arrived, and counts what is no message of these kinds.

    One call takes at most `limit` messages, so that a flood cannot hold the caller for ever.
    """

    def __init__(self, socket: Socket, kinds: Sequence[type[Message]], limit: int) -> None:
        self.dropped = 0
        self._socket = socket
        self._decoder = Decoder(kinds)
        self._limit = limit
        self._descriptor = socket.fileno()

    def fileno(self) -> int:
        """Return the socket's descriptor, which tells of news once: `patience` must be asked before blocking on it."""
        return self._descriptor

    def patience(self) -> float:
        """Return 0 if something has arrived, else infinity."""
        events = self._socket.getsockopt(zmq.EVENTS)
        return 0.0 if isinstance(events, int) and events & zmq.POLLIN else inf

    def messages(self) -> list[Message]:
        """Return the messages that have arrived."""
        read = map(self.read, self.arrivals())
        return [message for message in read if message is not None]

    def arrivals(self) -> Iterator[Frames]:
        """Yield the frames of each message that has arrived, not yet checked."""
        try:
            for _ in range(self._limit):
                yield self._frames()
        except zmq.Again:
            return

    def read(self, frames: Frames) -> Message | None:
        """Return the message in `frames`; where there is none, count that and return None."""
        try:
            return self._decoder.decode(frames)
        except FrameError:
            self.dropped += 1
            return None

    def _frames(self) -> Frames:
        frames = [self._socket.recv(zmq.NOBLOCK)]
        while self._socket.getsockopt(zmq.RCVMORE):
            frame = self._socket.recv()
            # One frame too many is kept, so that the decoder refuses the message.
            if len(frames) < _MOST_FRAMES:
                frames.append(frame)
        return frames


class Ear:
    """What every end that receives over one socket can tell of it; `_inbox` is set by who inherits."""

    _inbox: Inbox

    @property
    def dropped(self) -> int:
        """How many malformed messages were received and skipped."""
        return self._inbox.dropped

    def fileno(self) -> int:
        """Return the descriptor to wait on."""
        return self._inbox.fileno()

    def patience(self) -> float:
        """Return 0 if there is something to receive, else infinity."""
        return self._inbox.patience()
