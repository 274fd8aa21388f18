"""Merges what the roles recorded into one file in Chrome's trace format, which Perfetto opens."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_ORDER = ("coordinator", "drafter", "verifier")


def merge(folder: Path, target: Path) -> int:
    """Write the events of all `trace-<role>.jsonl` in `folder` to `target`, time starting at 0; return their number.

    A last line that was cut by a crash is left out.
    """
    recorded = {path.stem.removeprefix("trace-"): list(_events(path)) for path in sorted(folder.glob("trace-*.jsonl"))}
    began = min((event["ts"] for events in recorded.values() for event in events), default=0.0)
    events = [event | {"ts": round(event["ts"] - began, 3)} for events in recorded.values() for event in events]
    names = [entry for role, events in recorded.items() for entry in _names(role, events)]
    target.write_text(json.dumps({"traceEvents": names + sorted(events, key=lambda event: event["ts"])}), "utf-8")
    return len(events)


def _events(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            try:
                event = json.loads(line)
            except ValueError:
                continue
            if isinstance(event, dict) and "ts" in event:
                yield event


def _names(role: str, events: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    order = _ORDER.index(role) if role in _ORDER else len(_ORDER)
    for pid in sorted({event["pid"] for event in events}):
        yield _name("process_name", pid, 0, {"name": role})
        yield _name("process_sort_index", pid, 0, {"sort_index": order})
    for pid, tid in sorted({(event["pid"], event["tid"]) for event in events}):
        yield _name("thread_name", pid, tid, {"name": role})


def _name(kind: str, pid: int, tid: int, args: dict[str, Any]) -> dict[str, Any]:
    return {"ph": "M", "name": kind, "pid": pid, "tid": tid, "args": args}
