"""The control link: reliable and ordered, a hub at the coordinator and a line from every worker and client."""

from collections.abc import Sequence

import zmq

from specpipe.links.address import dial, listen
from specpipe.links.sockets import Ear, Inbox, Sockets, transmit
from specpipe.words.messages import Message
from specpipe.words.messages.codec import encode

HIGH_WATER = 4096
# Long enough for the last word of a dying worker, short enough for an exit at once.
_LINGER_MS = 500


class ControlHub(Ear):
    """The coordinator's end of many control lines, for messages of these kinds (see `links.seam.Hub`).

    A peer that does not read is sent at most `high_water` messages, beside what the system buffers.
    Raise `SettingsError` if it cannot listen on `address`.
    """

    def __init__(
        self, sockets: Sockets, address: str, kinds: Sequence[type[Message]], *, high_water: int = HIGH_WATER
    ) -> None:
        self._socket = sockets.open(zmq.ROUTER, high_water=high_water, linger_ms=_LINGER_MS)
        self._socket.setsockopt(zmq.ROUTER_MANDATORY, 1)
        self._inbox = Inbox(self._socket, kinds, high_water)
        self.address = listen(self._socket, address)

    def send(self, peer: bytes, message: Message) -> bool:
        """Send to one peer; return False where it is gone or has left too much unread."""
        return transmit(self._socket, [peer, *encode(message)])

    def receive(self) -> list[tuple[bytes, Message]]:
        """Return what has arrived with its sender, each sender's oldest first."""
        read = ((peer, self._inbox.read(frames)) for peer, *frames in self._inbox.arrivals())
        return [(peer, message) for peer, message in read if message is not None]

    def close(self) -> None:
        """Stop listening; what was sent leaves within half a second."""
        self._socket.close()


class ControlLine(Ear):
    """A worker's, client's or supervisor's end, for messages of these kinds (see `links.seam.Link`).

    Messages sent before the hub listens wait for it. Raise `PeerError` if the address is none.
    """

    def __init__(
        self, sockets: Sockets, address: str, kinds: Sequence[type[Message]], *, high_water: int = HIGH_WATER
    ) -> None:
        self._socket = sockets.open(zmq.DEALER, high_water=high_water, linger_ms=_LINGER_MS)
        self._inbox = Inbox(self._socket, kinds, high_water)
        dial(self._socket, address)

    def send(self, message: Message) -> bool:
        """Send to the hub; return False where it has left too much unread."""
        return transmit(self._socket, encode(message))

    def receive(self) -> list[Message]:
        """Return what has arrived, oldest first."""
        return self._inbox.messages()

    def close(self) -> None:
        """Hang up; what was sent leaves within half a second."""
        self._socket.close()
