"""The command line and the environment that each role is started with."""

import sys
from pathlib import Path

from specpipe.supervisor.placement import Placement, Seat
from specpipe.supervisor.policy import Role


def seat_of(placement: Placement, role: Role) -> Seat:
    """Return where a role runs."""
    seats = {"coordinator": placement.coordinator, "verifier": placement.verifier, "drafter": placement.drafter}
    seat = seats[role]
    if seat is None:
        raise ValueError(f"no {role} was placed")
    return seat


def command(role: Role, seat: Seat, *, settings: Path, folder: Path, trace: bool) -> list[str]:
    """Return the command that runs a role under a supervisor, which holds the other end of its standard input."""
    words = [sys.executable, "-P", "-m", "specpipe", role, "--config", str(settings), "--run-folder", str(folder)]
    words += ["--lifeline", "0", "--nice", str(seat.nice)]
    words += ["--cores", ",".join(map(str, seat.cores))] if seat.cores else []
    return [*words, "--trace"] if trace else words


def environment(seat: Seat) -> dict[str, str]:
    """Return what keeps the libraries of a role from starting more threads than it was given."""
    threads = str(max(1, seat.threads))
    return {"OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads, "TOKENIZERS_PARALLELISM": "false"}
