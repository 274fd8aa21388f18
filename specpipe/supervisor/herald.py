"""The supervisor's line to the coordinator: it reports deaths there, and asks it to end the instance."""

from specpipe.links.control import ControlLine
from specpipe.links.sockets import Sockets
from specpipe.supervisor.child import Child
from specpipe.supervisor.policy import Role
from specpipe.words.messages import Gone, Halt

_LONGEST_REASON = 1000


class LineHerald:
    """Speaks over a control line; must be used by one thread."""

    def __init__(self) -> None:
        self._sockets: Sockets | None = None
        self._line: ControlLine | None = None

    def meet(self, coordinator: Child) -> None:
        """Connect to the control address that the coordinator announced."""
        self._sockets = Sockets()
        self._line = ControlLine(self._sockets, str((coordinator.ready or {}).get("control", "")), ())

    def gone(self, role: Role, reason: str, *, final: bool) -> None:
        """Say that a worker's process ended."""
        if self._line is not None and role != "coordinator":
            self._line.send(Gone(role=role, final=final, reason=reason[:_LONGEST_REASON]))

    def halt(self) -> bool:
        """Ask the instance to end."""
        return self._line is not None and self._line.send(Halt())

    def close(self) -> None:
        """Hang up; what was sent leaves within half a second."""
        if self._sockets is not None:
            self._sockets.close()
