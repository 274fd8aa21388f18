"""What every carrier offers, whether its messages cross a socket or only this process."""

from typing import Protocol

from specpipe.words.messages import Message


class Waitable(Protocol):
    """Something that `wait` can block on."""

    def fileno(self) -> int:
        """Return the descriptor that turns readable when something may have arrived, or -1 if there is none."""
        ...

    def patience(self) -> float:
        """Return for how many seconds one may block on the descriptor: 0 when there is something to receive now."""
        ...


class Link(Waitable, Protocol):
    """A line to one peer. No method ever blocks."""

    @property
    def dropped(self) -> int:
        """How many malformed messages were received and skipped."""
        ...

    def send(self, message: Message) -> bool:
        """Send, or return False where there was no room; raise `FrameError` if no receiver would take its size."""
        ...

    def receive(self) -> list[Message]:
        """Return what has arrived, oldest first; empty when nothing has."""
        ...

    def close(self) -> None:
        """Give the line back; what was sent just before may still leave. A second time does nothing."""
        ...


class Hub(Waitable, Protocol):
    """One end of many lines. No method ever blocks, whatever any one peer does."""

    @property
    def address(self) -> str:
        """Where peers find it."""
        ...

    @property
    def dropped(self) -> int:
        """How many malformed messages were received and skipped."""
        ...

    def send(self, peer: bytes, message: Message) -> bool:
        """Send, or return False where that peer is gone or has left too much unread.

        Raise `FrameError` if no receiver would take the message's size.
        """
        ...

    def receive(self) -> list[tuple[bytes, Message]]:
        """Return what has arrived with its sender, each sender's oldest first."""
        ...

    def close(self) -> None:
        """Give the hub back; what was sent just before may still leave. A second time does nothing."""
        ...


class DataListener(Link, Protocol):
    """The verifier's end of the data link: edges come in, verdicts go out; both may be lost."""

    @property
    def edges_address(self) -> str:
        """Where the drafter sends edges."""
        ...

    @property
    def verdicts_address(self) -> str:
        """Where the drafter hears verdicts."""
        ...


class DataDialer(Link, Protocol):
    """The drafter's end of the data link: edges go out, verdicts come in; both may be lost."""

    def connect(self, edges: str, verdicts: str) -> None:
        """Turn to this verifier, discarding all that is queued to or from the one before.

        Raise `PeerError` if the addresses are none.
        """
        ...
