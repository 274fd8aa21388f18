"""What a role is started with."""

from pathlib import Path

import pytest

from specpipe.supervisor.commands import command, environment, seat_of
from specpipe.supervisor.placement import Placement, Seat

PLACEMENT = Placement(Seat(cores=(1,), nice=5), Seat("cpu", (0,), 1), None)


def test_a_command_says_where_and_how_to_run() -> None:
    """Cores, priority, settings and folder travel on the command line."""
    words = command("coordinator", PLACEMENT.coordinator, settings=Path("s.json"), folder=Path("run"), trace=True)

    assert words[1:5] == ["-P", "-m", "specpipe", "coordinator"]
    options = dict(zip(words[5:-1:2], words[6:-1:2], strict=True))
    assert options == {
        "--config": "s.json",
        "--run-folder": "run",
        "--lifeline": "0",
        "--nice": "5",
        "--cores": "1",
    }
    assert words[-1] == "--trace"


def test_a_seat_without_cores_names_none() -> None:
    """A worker on a GPU stays wherever the system likes."""
    words = command("verifier", Seat("cuda:0", (), 1), settings=Path("s"), folder=Path("run"), trace=False)

    assert "--cores" not in words
    assert "--trace" not in words


def test_libraries_start_no_more_threads_than_the_seat_has() -> None:
    """OpenMP and MKL read their number of threads from the environment."""
    assert environment(Seat("cpu", (0, 1), 2))["OMP_NUM_THREADS"] == "2"
    assert environment(PLACEMENT.coordinator)["MKL_NUM_THREADS"] == "1"


def test_a_role_that_was_not_placed_has_no_seat() -> None:
    """Asking for it is a mistake of the program."""
    with pytest.raises(ValueError, match="no drafter"):
        seat_of(PLACEMENT, "drafter")
