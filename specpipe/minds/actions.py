"""What the coordinator's mind decides: what to send to whom."""

from dataclasses import dataclass

from specpipe.words.messages import Message


@dataclass(frozen=True, slots=True)
class ToWorker:
    """Send over the control link."""

    peer: bytes
    message: Message


@dataclass(frozen=True, slots=True)
class ToClient:
    """Send to a client; one that cannot be reached gives up its request."""

    peer: bytes
    message: Message


Action = ToWorker | ToClient
