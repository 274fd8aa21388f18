"""The data link: edges one way, verdicts the other, one hop; it drops rather than blocks.

What is lost costs time, never correctness, so the queues are short.
"""

from collections.abc import Sequence

import zmq

from specpipe.links.address import dial, listen
from specpipe.links.sockets import Ear, Inbox, Sockets, transmit
from specpipe.words.messages import Draws, Edges, Message, Resync, Verdict
from specpipe.words.messages.codec import encode

HIGH_WATER = 512


class DataServer(Ear):
    """The verifier's end (see `links.seam.DataListener`); a drafter that is replaced finds it unchanged.

    Raise `SettingsError` if it cannot listen on the addresses.
    """

    def __init__(
        self,
        sockets: Sockets,
        edges: str,
        verdicts: str,
        kinds: Sequence[type[Message]] = (Edges, Draws, Resync),
        *,
        high_water: int = HIGH_WATER,
    ) -> None:
        self._edges = sockets.open(zmq.PULL, high_water=high_water, linger_ms=0)
        self._verdicts = sockets.open(zmq.PUB, high_water=high_water, linger_ms=0)
        self._inbox = Inbox(self._edges, kinds, high_water)
        self.edges_address = listen(self._edges, edges)
        self.verdicts_address = listen(self._verdicts, verdicts)

    def send(self, message: Message) -> bool:
        """Publish to whoever listens; one that does not read loses it unseen, so this is True even then."""
        return transmit(self._verdicts, encode(message))

    def receive(self) -> list[Message]:
        """Return what has arrived, each sender's oldest first."""
        return self._inbox.messages()

    def close(self) -> None:
        """Stop listening; what is still queued is lost."""
        self._edges.close()
        self._verdicts.close()


class DataClient(Ear):
    """The drafter's end (see `links.seam.DataDialer`); until it is connected all that is sent is dropped."""

    def __init__(
        self, sockets: Sockets, kinds: Sequence[type[Message]] = (Verdict,), *, high_water: int = HIGH_WATER
    ) -> None:
        self._sockets = sockets
        self._kinds = kinds
        self._high_water = high_water
        self._dropped_before = 0
        self._open()

    @property
    def dropped(self) -> int:
        """How many malformed messages were received and skipped."""
        return self._dropped_before + self._inbox.dropped

    def connect(self, edges: str, verdicts: str) -> None:
        """Turn to this verifier, discarding all that is queued to or from the one before.

        Raise `PeerError` if the addresses are none.
        """
        self._dropped_before = self.dropped
        self.close()
        self._open()
        dial(self._edges, edges)
        dial(self._verdicts, verdicts)

    def send(self, message: Message) -> bool:
        """Send to the verifier; return False, dropping it, where none is connected or it has left too much unread."""
        return transmit(self._edges, encode(message))

    def receive(self) -> list[Message]:
        """Return what has arrived, oldest first."""
        return self._inbox.messages()

    def close(self) -> None:
        """Hang up; what is still queued is lost."""
        self._edges.close()
        self._verdicts.close()

    def _open(self) -> None:
        self._edges = self._sockets.open(zmq.PUSH, high_water=self._high_water, linger_ms=0)
        # Else edges would queue for a verifier that may never come back.
        self._edges.setsockopt(zmq.IMMEDIATE, 1)
        self._verdicts = self._sockets.open(zmq.SUB, high_water=self._high_water, linger_ms=0)
        self._verdicts.setsockopt(zmq.SUBSCRIBE, b"")
        self._inbox = Inbox(self._verdicts, self._kinds, self._high_water)
