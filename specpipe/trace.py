"""What a role did and when, as Chrome trace events: one JSON object a line, merged by the supervisor at the end.

Moments are seconds of the host's monotonic clock, so that the events of all processes lie on one axis.
"""

import json
import os
import threading
from pathlib import Path
from typing import Any, Literal

_FLUSH_S = 0.2


class Recorder:
    """Appends the events of one role to `<folder>/trace-<role>.jsonl`; owned by one thread at a time.

    Events are buffered and written when the latest one is 0.2 s after the last write, and on `close`.
    """

    def __init__(self, folder: Path, role: str) -> None:
        self._file = (folder / f"trace-{role}.jsonl").open("a", encoding="utf-8")
        self._lines: list[str] = []
        self._written = 0.0

    def span(self, name: str, began: float, ended: float, **args: Any) -> None:
        """Record something that lasted from `began` to `ended`."""
        self._add("X", name, began, ended, args, dur=_micros(ended - began))

    def instant(self, name: str, at: float, **args: Any) -> None:
        """Record something that happened at one moment."""
        self._add("i", name, at, at, args, s="t")

    def flow(self, name: str, ident: int, phase: Literal["begin", "end"], at: float) -> None:
        """Record one end of an arrow between processes; both ends share the name and `ident`."""
        ends: dict[str, Any] = {"ph": "s"} if phase == "begin" else {"ph": "f", "bp": "e"}
        self._add(ends.pop("ph"), name, at, at, {}, cat="flow", id=ident, **ends)

    def close(self) -> None:
        """Write what is buffered; later events are an error."""
        self._flush()
        self._file.close()

    def _add(self, phase: str, name: str, began: float, ended: float, args: dict[str, Any], **more: Any) -> None:
        event = {"ph": phase, "name": name, "ts": _micros(began), "pid": os.getpid(), "tid": threading.get_native_id()}
        self._lines.append(json.dumps(event | more | {"args": args}))
        if ended - self._written >= _FLUSH_S:
            self._written = ended
            self._flush()

    def _flush(self) -> None:
        self._file.write("".join(f"{line}\n" for line in self._lines))
        self._file.flush()
        self._lines.clear()


class Silence:
    """The recorder of an untraced role: takes everything, keeps nothing."""

    def span(self, name: str, began: float, ended: float, **args: Any) -> None:
        """Keep nothing of a span."""

    def instant(self, name: str, at: float, **args: Any) -> None:
        """Keep nothing of an instant."""

    def flow(self, name: str, ident: int, phase: Literal["begin", "end"], at: float) -> None:
        """Keep nothing of an arrow."""

    def close(self) -> None:
        """Close nothing."""


def recorder(folder: Path, role: str, *, on: bool) -> Recorder | Silence:
    """Return the recorder of a role, or its silent twin where tracing is off."""
    return Recorder(folder, role) if on else Silence()


def _micros(seconds: float) -> float:
    return round(seconds * 1e6, 3)
