"""The recorder of trace events."""

import json
from pathlib import Path
from typing import Any

from specpipe.trace import Silence, recorder


def _events(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_spans_are_complete_events_in_microseconds(tmp_path: Path) -> None:
    """A span keeps its beginning, its duration and its arguments."""
    trace = recorder(tmp_path, "drafter", on=True)
    trace.span("step", 1.0, 1.005, rows=8)
    trace.close()

    (event,) = _events(tmp_path / "trace-drafter.jsonl")

    assert (event["ph"], event["name"], event["ts"], event["dur"]) == ("X", "step", 1_000_000.0, 5_000.0)
    assert event["args"] == {"rows": 8}


def test_an_arrow_has_two_ends_with_one_identity(tmp_path: Path) -> None:
    """Both ends of a flow share name, category and id, and differ in phase."""
    trace = recorder(tmp_path, "drafter", on=True)
    trace.flow("edges", 7, "begin", 1.0)
    trace.flow("edges", 7, "end", 1.1)
    trace.close()

    begin, end = _events(tmp_path / "trace-drafter.jsonl")

    assert (begin["ph"], end["ph"]) == ("s", "f")
    assert {(e["name"], e["cat"], e["id"]) for e in (begin, end)} == {("edges", "flow", 7)}


def test_events_are_buffered_until_time_has_passed_or_the_recorder_closes(tmp_path: Path) -> None:
    """Writing costs one call for many events, and nothing is lost at the end."""
    path = tmp_path / "trace-verifier.jsonl"
    trace = recorder(tmp_path, "verifier", on=True)
    for at in (1.0, 1.01, 1.02):
        trace.instant("hit", at)
    early = len(_events(path))
    trace.instant("hit", 1.3)
    later = len(_events(path))
    trace.instant("miss", 1.31)
    trace.close()

    assert (early, later, len(_events(path))) == (1, 4, 5)


def test_without_tracing_nothing_is_written(tmp_path: Path) -> None:
    """The silent twin takes the same calls and makes no file."""
    trace = recorder(tmp_path, "drafter", on=False)
    trace.span("step", 0.0, 1.0)
    trace.instant("hit", 1.0)
    trace.flow("edges", 1, "begin", 1.0)
    trace.close()

    assert isinstance(trace, Silence)
    assert list(tmp_path.iterdir()) == []
