"""The supervisor's line to the coordinator: what it reports there, and asks."""

from specpipe.links.control import ControlLine
from specpipe.links.sockets import Sockets
from specpipe.supervisor.child import Child
from specpipe.words.messages import Gone, Halt, Look, Status

_LONGEST_REASON = 1000


class LineHerald:
    """Speaks over a control line; must be used by one thread. `secret` is what the coordinator knows it by."""

    def __init__(self) -> None:
        self.secret = ""
        self._sockets: Sockets | None = None
        self._line: ControlLine | None = None

    def meet(self, coordinator: Child) -> None:
        """Connect to the control address that the coordinator announced."""
        self._sockets = Sockets()
        self._line = ControlLine(self._sockets, str((coordinator.ready or {}).get("control", "")), (Status,))

    def gone(self, child: Child, reason: str, *, final: bool) -> None:
        """Say that a worker's process ended."""
        if self._line is not None and child.role != "coordinator":
            reason = reason[:_LONGEST_REASON]
            self._line.send(Gone(role=child.role, pid=child.pid, final=final, reason=reason, secret=self.secret))

    def look(self) -> Status | None:
        """Ask how all are; return the latest answer that has come since the last time."""
        if self._line is None:
            return None
        statuses = [message for message in self._line.receive() if isinstance(message, Status)]
        self._line.send(Look())
        return statuses[-1] if statuses else None

    def halt(self) -> bool:
        """Ask the instance to end."""
        return self._line is not None and self._line.send(Halt(secret=self.secret))

    def close(self) -> None:
        """Hang up; what was sent leaves within half a second."""
        if self._sockets is not None:
            self._sockets.close()
