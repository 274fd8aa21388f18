"""The coordinator's loop."""

from collections import deque
from collections.abc import Sequence

from msgspec.structs import replace

from specpipe.clock import now
from specpipe.links.seam import Hub
from specpipe.links.wait import wait
from specpipe.minds.actions import Action, ToClient
from specpipe.minds.booking import Booking
from specpipe.process.confidence import Confidence
from specpipe.process.ending import Ending
from specpipe.trace import Recorder, Silence
from specpipe.words.messages import Finished, Halt, Message, Started, Status, Verdict


class Coordinator:
    """Reads messages, asks its mind, sends what it says.

    What only the supervisor may say is believed of those who have its `confidence`.
    """

    def __init__(
        self,
        mind: Booking,
        workers: Hub,
        clients: Hub,
        *,
        confidence: Confidence,
        ending: Ending,
        trace: Recorder | Silence,
    ) -> None:
        self._mind = mind
        self._workers = workers
        self._clients = clients
        self._confidence = confidence
        self._ending = ending
        self._trace = trace

    def run(self) -> None:
        """Coordinate until asked to end; then end every request that is still open."""
        while not self._ending.asked:
            wait([self._workers, self._clients, self._ending.descriptor], None)
            for peer, message in self._workers.receive():
                if self._confidence.allows(message):
                    self._carry_out(self._mind.worker_said(peer, message, now()))
                    self._follow(message)
            for peer, message in self._clients.receive():
                self._carry_out(self._mind.client_said(peer, message, now()))
        self._carry_out(self._mind.halt())

    def _follow(self, message: object) -> None:
        if isinstance(message, Verdict):
            self._trace.instant("verdict", now(), request=message.request, committed=len(message.tokens))
        elif isinstance(message, Halt):
            self._ending.ask()

    def _carry_out(self, actions: Sequence[Action]) -> None:
        """Carry out actions in the order in which they were decided: what follows from one comes after the others.

        Else the `Close` of a client that turns out to be lost would overtake the `Open` of its request.
        """
        todo = deque(actions)
        while todo:
            action = todo.popleft()
            if not isinstance(action, ToClient):
                self._workers.send(action.peer, action.message)
            elif not self._clients.send(action.peer, self._completed(action.message)):
                todo.extend(self._mind.client_lost(action.peer, now()))
            elif isinstance(action.message, Started | Finished):
                self._trace.instant(type(action.message).__name__.lower(), now())

    def _completed(self, message: Message) -> Message:
        """Add to a `Status` what only the hubs know: the frames that were dropped here."""
        if not isinstance(message, Status):
            return message
        return replace(message, dropped_frames=message.dropped_frames + self._workers.dropped + self._clients.dropped)
