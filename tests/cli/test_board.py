"""What a launch tells, to people and to programs."""

import json
from collections.abc import Callable

import pytest

from specpipe.cli.board import Board, Journal
from specpipe.supervisor.events import Event, GivenUp, Ready, Restarting, Said
from specpipe.supervisor.placement import Placement, Seat
from tests.supervisor.fakes import status

PLACEMENT = Placement(Seat(cores=(1,), nice=5), Seat("cpu", (0,), 1), Seat("cpu", (1,), 2))
READY = Ready("verifier", 42, 1.25, {"ready": "verifier", "model": "smollm2", "device": "cpu", "dtype": "float32"})


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (READY, "verifier ready after 1.2 s (process 42; smollm2, cpu, float32, 1 thread, cores 0)"),
        (Restarting("drafter", "Killed", 0.25), "drafter ended (Killed); it is started again in 0.25 s"),
        (GivenUp("drafter", "no room"), "drafter ended (no room); going on without it, as fast as the target alone"),
        (Said("verifier", "[bold]x"), "verifier: [bold]x"),
    ],
)
def test_people_read_a_line_an_event(event: Event, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Standard error has it, as it is, and nothing is taken for markup."""
    with Board() as board:
        board.seat(PLACEMENT)
        board.hear(event)

    captured = capsys.readouterr()
    assert captured.err.strip() == line
    assert captured.out == ""


def _objects(act: Callable[[Journal], None], capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    with Journal() as journal:
        act(journal)
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_programs_read_an_object_an_event(capsys: pytest.CaptureFixture[str]) -> None:
    """Each line says which event it is, with all that is known of it."""

    def act(journal: Journal) -> None:
        journal.seat(PLACEMENT)
        journal.hear(READY)
        journal.serve("ipc://x")

    placed, ready, serving = _objects(act, capsys)

    assert placed["event"] == "placed"
    assert placed["verifier"] == {"device": "cpu", "cores": [0], "threads": 1, "nice": 0}
    assert (ready["event"], ready["role"], ready["pid"]) == ("ready", "verifier", 42)
    assert serving == {"event": "serving", "clients": "ipc://x"}


def test_an_idle_instance_fills_no_journal(capsys: pytest.CaptureFixture[str]) -> None:
    """A status is printed where a pass was done since the last one."""

    def act(journal: Journal) -> None:
        for passes in (0, 0, 3, 3):
            journal.show(status(passes=passes), 1.0)

    assert [shown["passes"] for shown in _objects(act, capsys)] == [0, 3]
