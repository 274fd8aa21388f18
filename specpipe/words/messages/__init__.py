"""The protocol's table of contents: every message, filed by who receives it."""

from specpipe.words.messages.client import Delta, Failed, Finished, Started, Stats, Status, WorkerStatus
from specpipe.words.messages.coordinator import Ask, Cancel, Gone, Halt, Hello, Look, Pulse, Steps, Unserved
from specpipe.words.messages.drafter import Peer, Verdict
from specpipe.words.messages.fields import PROTOCOL, Message
from specpipe.words.messages.verifier import Close, Draws, Edges, Greet, Open, Recall, Resync, Stop

TO_COORDINATOR: tuple[type[Message], ...] = (
    Hello, Pulse, Steps, Unserved, Verdict, Gone, Halt, Ask, Cancel, Look,
)  # fmt: skip
TO_DRAFTER: tuple[type[Message], ...] = (Open, Close, Stop, Greet, Peer, Verdict)
TO_VERIFIER: tuple[type[Message], ...] = (Open, Close, Stop, Greet, Recall, Edges, Draws, Resync)
TO_CLIENT: tuple[type[Message], ...] = (Started, Delta, Finished, Failed, Status)

__all__ = [
    "PROTOCOL",
    "TO_CLIENT",
    "TO_COORDINATOR",
    "TO_DRAFTER",
    "TO_VERIFIER",
    "Ask",
    "Cancel",
    "Close",
    "Delta",
    "Draws",
    "Edges",
    "Failed",
    "Finished",
    "Gone",
    "Greet",
    "Halt",
    "Hello",
    "Look",
    "Message",
    "Open",
    "Peer",
    "Pulse",
    "Recall",
    "Resync",
    "Started",
    "Stats",
    "Status",
    "Steps",
    "Stop",
    "Unserved",
    "Verdict",
    "WorkerStatus",
]
