"""After everything was killed at once, the next instance knows nothing of it (case D16)."""

import json
import os
import signal
from pathlib import Path

import psutil

from tests.process import simulated as sim

ANSWERS = 100


def test_what_a_kill_left_is_no_burden_to_the_next(tmp_path: Path) -> None:
    """Launcher and roles die in one moment, none to tidy up for another; a new one serves, and clears up after them."""
    others = set(sim.run_folders())
    with sim.command(tmp_path / "c.toml", "launch", "--json") as launch:
        assert launch.stdout is not None
        for line in launch.stdout:
            if json.loads(line)["event"] == "serving":
                break
        (left,) = set(sim.run_folders()) - others
        family = [psutil.Process(launch.pid), *sim.descendants(launch.pid)]
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for process in family:
                os.kill(process.pid, number)
        assert sim.gone(family[1:])
    assert left.exists()

    with sim.instance() as (_, client):
        assert not left.exists()
        answers = [sim.answer(client, "pipelined", 5).token_ids for _ in range(ANSWERS)]
        status = client.status()

    assert all(len(tokens) == 5 for tokens in answers)
    assert (status.finished_requests, status.failed_requests, status.dropped_frames) == (ANSWERS, 0, 0)
