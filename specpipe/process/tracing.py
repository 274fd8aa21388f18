"""The messages of the data link in a trace: an arrow from where one was sent to where it was heard."""

from typing import Literal

from specpipe.clock import now
from specpipe.trace import Recorder, Silence
from specpipe.words.messages import Edges, Message, Verdict

_REQUEST_SHIFT = 32


def arrow(trace: Recorder | Silence, message: Message, phase: Literal["begin", "end"]) -> None:
    """Record one end of the arrow of an `Edges` or a `Verdict`; other messages leave no trace."""
    match message:
        case Edges():
            trace.flow("edges", _ident(message.request, message.steps), phase, now())
        case Verdict():
            trace.flow("verdict", _ident(message.request, message.start), phase, now())


def _ident(request: int, number: int) -> int:
    return request << _REQUEST_SHIFT | number
