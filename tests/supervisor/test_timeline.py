"""The traces of all roles in one file."""

import json
from pathlib import Path

from specpipe.supervisor.timeline import merge
from specpipe.trace import Recorder


def test_roles_share_one_axis_that_starts_at_zero(tmp_path: Path) -> None:
    """Moments of different processes stay comparable, and the first is 0."""
    for role, began in (("drafter", 100.0), ("verifier", 100.5)):
        trace = Recorder(tmp_path, role)
        trace.span("work", began, began + 0.1)
        trace.close()

    count = merge(tmp_path, tmp_path / "out.json")
    events = json.loads((tmp_path / "out.json").read_text("utf-8"))["traceEvents"]

    assert count == 2
    assert [event["ts"] for event in events if event["ph"] == "X"] == [0.0, 500_000.0]
    assert {event["args"]["name"] for event in events if event["name"] == "process_name"} == {"drafter", "verifier"}


def test_a_line_that_a_crash_cut_is_left_out(tmp_path: Path) -> None:
    """What was whole before a kill is kept."""
    trace = Recorder(tmp_path, "drafter")
    trace.instant("hit", 1.0)
    trace.close()
    with (tmp_path / "trace-drafter.jsonl").open("ab") as file:
        file.write(b'{"ph": "i", "name": "mi\xff')

    assert merge(tmp_path, tmp_path / "out.json") == 1


def test_nothing_recorded_is_an_empty_trace(tmp_path: Path) -> None:
    """An instance that never served leaves a file that still opens."""
    assert merge(tmp_path, tmp_path / "out.json") == 0
    assert json.loads((tmp_path / "out.json").read_text("utf-8")) == {"traceEvents": []}
