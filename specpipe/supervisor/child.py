"""One process of the instance: its lifeline, what it says, and how it ended."""

import json
import os
import signal
import subprocess
from collections import deque
from collections.abc import Callable, Sequence
from typing import IO, Any

from specpipe.supervisor.policy import Role

MAX_LINE = 1 << 16
TAIL_LINES = 50
PREFIX = "specpipe: "


class Lines:
    """Cuts what arrives in pieces into lines, none longer than 64 KiB."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, piece: bytes) -> list[str]:
        """Return the lines that `piece` completes; an empty piece, the end, completes what is left."""
        *whole, self._rest = (self._rest + piece).split(b"\n")
        if self._rest and (not piece or len(self._rest) > MAX_LINE):
            whole.append(self._rest)
            self._rest = b""
        return [line[:MAX_LINE].decode("utf-8", "replace").rstrip() for line in whole]


class Child:
    """A started process. It is in a session of its own, so that Ctrl-C reaches the launcher alone.

    Its standard input is its lifeline: it ends when this object's side is closed, also by a crash.
    `ready` holds the JSON object that it prints once it serves.
    """

    def __init__(self, role: Role, command: Sequence[str], env: dict[str, str], born: float) -> None:
        self.role: Role = role
        self.born = born
        self.ready: dict[str, Any] | None = None
        self.process = subprocess.Popen(  # noqa: S603 - the command is our own
            command,
            env=os.environ | env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self._out, self._err = Lines(), Lines()
        self._tail: deque[str] = deque(maxlen=TAIL_LINES)
        self._sentence = ""

    @property
    def pid(self) -> int:
        """The process id."""
        return self.process.pid

    @property
    def status(self) -> int | None:
        """The exit status, negative for a signal; None while it runs."""
        return self.process.poll()

    def pipes(self) -> list[tuple[IO[bytes], Callable[[bytes], list[str]]]]:
        """Return its output pipes, each with what takes a piece and returns the lines worth passing on."""
        outputs = (self.process.stdout, self.heard), (self.process.stderr, self.complained)
        return [(pipe, take) for pipe, take in outputs if pipe is not None]

    def heard(self, piece: bytes) -> list[str]:
        """Take standard output, where only the line that says that it is ready means anything."""
        for line in self._out.feed(piece):
            self.ready = self.ready or _announcement(line, self.role)
        return []

    def complained(self, piece: bytes) -> list[str]:
        """Take standard error and return its lines; a final line that names the cause is kept for `reason`."""
        lines = [line for line in self._err.feed(piece) if line]
        self._tail.extend(lines)
        return [line for line in lines if not line.startswith(PREFIX)]

    def condemn(self, sentence: str) -> None:
        """Kill it, for a reason that it cannot name itself; one that is stopped dies as well."""
        if self.status is None:
            self._sentence = sentence
            self.signal(signal.SIGKILL)

    def reason(self) -> str:
        """Return why it ended, in its own words where it left some."""
        if self._sentence:
            return self._sentence
        named = [line.removeprefix(PREFIX) for line in self._tail if line.startswith(PREFIX)]
        words = named or list(self._tail)
        return words[-1] if words else _how(self.status)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal; one that has already ended takes none."""
        if self.status is None:
            self.process.send_signal(number)

    def close(self) -> None:
        """Drop the lifeline and the pipes."""
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()


def _announcement(line: str, role: Role) -> dict[str, Any] | None:
    try:
        said = json.loads(line)
    except ValueError:
        return None
    return said if isinstance(said, dict) and said.get("ready") == role else None


def _how(status: int | None) -> str:
    if status is not None and status < 0:
        return f"it was ended by signal {-status} ({signal.strsignal(-status)})"
    return f"it ended with status {status}"
