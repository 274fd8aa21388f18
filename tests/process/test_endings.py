"""However a command of the real processes is ended, soon nothing of it is left.

The leak check after each test looks for processes and run folders as well.
"""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.process import simulated as sim

ROLES = {"coordinator", "drafter", "verifier"}


@pytest.mark.parametrize("after_s", [0.1, 0.5, 1.0, 2.0])
def test_ctrl_c_while_loading(after_s: float, tmp_path: Path) -> None:
    """Whatever was started by then is ended, and the status is not 0."""
    with sim.command(tmp_path / "c.toml", "launch", "--json") as launch:
        time.sleep(after_s)
        launch.send_signal(signal.SIGINT)

        assert launch.wait(sim.WITHIN_S) != 0


@pytest.mark.parametrize("signals", [1, 2])
def test_ctrl_c_in_an_answer(signals: int, tmp_path: Path) -> None:
    """Once or twice: the status is 130 and nothing is left."""
    with sim.command(tmp_path / "c.toml", "generate", "--max-tokens", "0", "hello") as generate:
        assert generate.stdout is not None
        generate.stdout.read(20)
        started = sim.descendants(generate.pid)
        for _ in range(signals):
            generate.send_signal(signal.SIGINT)

        assert generate.wait(sim.WITHIN_S) == 130
        assert {sim.role_of(process) for process in started if process.is_running()} <= {""}


@pytest.mark.parametrize("moment", ["loading", "generating"])
def test_a_killed_launcher(moment: str, tmp_path: Path) -> None:
    """Nobody is there to end the processes: they do so themselves, and the run folder goes with the last."""
    with sim.command(tmp_path / "c.toml", "generate", "--max-tokens", "0", "hello") as generate:
        sim.await_role(generate.pid, "drafter")
        if moment == "generating":
            assert generate.stdout is not None
            generate.stdout.read(20)
        started = sim.descendants(generate.pid)
        roles = {sim.role_of(process) for process in started}
        generate.kill()

        assert roles == ROLES
        assert sim.gone(started)
        assert sim.run_folders() == []


def _killing(generate: "subprocess.Popen[str]", times: int) -> None:
    """Kill the verifier so often, each time when there is a new one."""
    killed: set[int] = set()
    while len(killed) < times and generate.poll() is None:
        verifier = sim.await_role(generate.pid, "verifier", killed)
        killed.add(verifier.pid)
        verifier.kill()


def test_a_killed_verifier_is_replaced(tmp_path: Path) -> None:
    """The answer is as long as ever; the one who waits for it is told what happened."""
    words = ["--max-tokens", "300", "--ignore-eos", "hello"]
    with sim.command(tmp_path / "c.toml", "generate", *words) as generate:
        assert generate.stdout is not None
        begun = generate.stdout.read(20)
        _killing(generate, 1)
        # Not `communicate`, which would miss what is already buffered here.
        rest, told = generate.stdout.read(), generate.stderr.read() if generate.stderr else ""

        assert generate.wait(sim.WITHIN_S) == 0
    assert (begun + rest).count("t") == 300
    assert told == "the verifier ended (it was ended by signal 9 (Killed)) and is started again\n"


def test_a_verifier_that_dies_again_and_again(tmp_path: Path) -> None:
    """Beyond its budget the command ends with status 70 and one clear last line (case D04)."""
    with sim.command(tmp_path / "c.toml", "generate", "--max-tokens", "0", "hello") as generate:
        assert generate.stdout is not None
        generate.stdout.read(20)
        _killing(generate, 4)
        _, told = generate.communicate(timeout=sim.WITHIN_S)

    last = "specpipe: the verifier died (4 times in a short time, and is not started again): it was ended by signal 9"
    assert generate.returncode == 70
    assert told.splitlines()[-1] == f"{last} (Killed)"
    assert len(told.splitlines()) == 4


def test_a_launch_is_told_and_ended_by_sigterm(tmp_path: Path) -> None:
    """The journal names all processes with what they run on; SIGTERM ends them with status 143."""
    with sim.command(tmp_path / "c.toml", "launch", "--json") as launch:
        assert launch.stdout is not None
        ready = {}
        for line in launch.stdout:
            event = json.loads(line)
            if event["event"] == "ready":
                ready[event["role"]] = event["facts"]
            if event["event"] == "serving":
                break
        launch.send_signal(signal.SIGTERM)

        assert launch.wait(sim.WITHIN_S) == 143
    assert set(ready) == ROLES
    assert ready["verifier"]["model"] == "simulated"


def test_the_simulation_writes_its_figures(tmp_path: Path) -> None:
    """The speedup and all statistics are in the file."""
    file = tmp_path / "figures.json"
    words = ["simulate", "--draft-ms", "1", "--target-ms", "20", "--tokens", "60", "--json", str(file)]
    bench = subprocess.run(
        [sys.executable, "-m", "specpipe", "bench", *words], capture_output=True, text=True, check=True
    )
    figures = json.loads(file.read_text("utf-8"))

    assert "speedup" in bench.stdout
    assert figures["stats"]["tokens"] == 60
    assert figures["speedup"] > 1
