"""The processes that were started: their output is read here, and here their ends are noticed."""

import os
import selectors
from collections.abc import Callable, Iterator
from typing import IO

from specpipe.clock import now
from specpipe.supervisor.child import MAX_LINE, Child
from specpipe.supervisor.events import Event, Said
from specpipe.supervisor.policy import Role

Command = Callable[[Role], list[str]]
Environment = Callable[[Role], dict[str, str]]


class Crew:
    """Owns the children. All calls come from one thread, which must outlive them (they die with it on Linux)."""

    def __init__(self, command: Command, environment: Environment, report: Callable[[Event], None]) -> None:
        self._command = command
        self._environment = environment
        self._report = report
        self._children: dict[Role, Child] = {}
        self._unready: set[Role] = set()
        self._selector = selectors.DefaultSelector()

    def __contains__(self, role: Role) -> bool:
        return role in self._children

    def __iter__(self) -> Iterator[Child]:
        return iter(self._children.values())

    def start(self, role: Role) -> Child:
        """Start the process of a role; its output is read from the next `pump` on."""
        child = Child(role, self._command(role), self._environment(role), now())
        self._children[role] = child
        self._unready.add(role)
        for pipe, take in child.pipes():
            os.set_blocking(pipe.fileno(), False)
            self._selector.register(pipe, selectors.EVENT_READ, (child, take))
        return child

    def pump(self, timeout_s: float) -> None:
        """Read what the children wrote, waiting at most `timeout_s` for the first of it."""
        for key, _ in self._selector.select(timeout_s):
            self._read(key)

    def readied(self) -> list[Child]:
        """Return the children that have become ready since the last call."""
        ready = [self._children[role] for role in sorted(self._unready) if self._children[role].ready is not None]
        self._unready -= {child.role for child in ready}
        return ready

    def ended(self) -> list[Child]:
        """Return the children that have ended since the last call, all they wrote read, and let go of them."""
        gone = [child for child in self._children.values() if child.status is not None]
        for child in gone:
            self._let_go(child)
        return gone

    def close(self) -> None:
        """Let go of all children, ended or not."""
        for child in list(self._children.values()):
            self._let_go(child)
        self._selector.close()

    def _read(self, key: selectors.SelectorKey) -> bool:
        """Pass on one piece of output; return whether there may be more at once."""
        child, take = key.data
        pipe: IO[bytes] = key.fileobj  # type: ignore[assignment]
        piece = _piece(pipe)
        if piece is None:
            return False
        for line in take(piece):
            self._report(Said(child.role, line))
        if not piece:
            self._selector.unregister(pipe)
        return bool(piece)

    def _let_go(self, child: Child) -> None:
        """Read the rest of its output (a grandchild may hold the pipe open, so its end is not waited for)."""
        for key in [key for key in self._selector.get_map().values() if key.data[0] is child]:
            while self._read(key):
                pass
            if key.fileobj in self._selector.get_map():
                self._selector.unregister(key.fileobj)
        child.close()
        self._unready.discard(child.role)
        del self._children[child.role]


def _piece(pipe: IO[bytes]) -> bytes | None:
    """Return what is there to read, nothing at the end, or None where there is nothing yet."""
    try:
        return os.read(pipe.fileno(), MAX_LINE)
    except BlockingIOError:
        return None
