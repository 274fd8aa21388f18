"""Whatever happens to the launcher, in time or out of it, nothing of the instance is left behind.

The leak check after each test looks for processes and for the run folder.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

# The promise is five seconds where cores are free; beside the tests other work may take them.
WITHIN_S = 20.0
# As few things to get ready as there can be, so that a test is about processes.
SIMULATED = ("--target", "simulated", "--draft", "simulated")


@contextmanager
def _launcher(*words: str, roles: str = "") -> Iterator["subprocess.Popen[str]"]:
    """Run a command over stand-in roles in a process of its own; if the test fails, its whole group is ended."""
    command = [sys.executable, "-m", "tests.cli.launcher", *roles.split(), "--", *words]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def _await_serving(launch: "subprocess.Popen[str]") -> dict[str, Any]:
    """Read the journal until the instance serves; return the processes by role."""
    assert launch.stdout is not None
    pids: dict[str, Any] = {}
    for line in launch.stdout:
        event = json.loads(line)
        if event["event"] == "ready":
            pids[event["role"]] = event["pid"]
        if event["event"] == "serving":
            return pids
    pytest.fail(f"it ended: {launch.stderr.read() if launch.stderr else ''}")


def _gone(pids: dict[str, int]) -> bool:
    """Tell whether all processes end within the promised time."""
    deadline = time.monotonic() + WITHIN_S
    while any(psutil.pid_exists(pid) for pid in pids.values()):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def _run(*words: str, roles: str = "") -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "tests.cli.launcher", *roles.split(), "--", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_a_launch_in_an_orderly_way(number: signal.Signals, status: int) -> None:
    """Ctrl-C and SIGTERM end all processes, and the status tells which it was."""
    with _launcher("launch", "--json", *SIMULATED) as launch:
        pids = _await_serving(launch)
        launch.send_signal(number)

        assert launch.wait(WITHIN_S) == status
        assert _gone(pids)


@pytest.mark.parametrize("after_s", [0.3, 0.6, 1.0])
@pytest.mark.parametrize("signals", [1, 2])
def test_ctrl_c_while_loading_leaves_nothing(after_s: float, signals: int) -> None:
    """At any moment of a start that takes long, once or twice, everything ends in time and not with status 0."""
    with _launcher("launch", "--json", *SIMULATED, roles="verifier=never") as launch:
        time.sleep(after_s)
        for _ in range(signals):
            launch.send_signal(signal.SIGINT)

        assert launch.wait(WITHIN_S) != 0


def test_a_second_ctrl_c_kills_the_deaf_at_once() -> None:
    """Nobody is waited for any more."""
    with _launcher("launch", "--json", *SIMULATED, roles="verifier=deaf drafter=deaf") as launch:
        pids = _await_serving(launch)
        launch.send_signal(signal.SIGINT)
        time.sleep(0.2)
        launch.send_signal(signal.SIGINT)

        assert launch.wait(WITHIN_S) == 130
        assert _gone(pids)


@pytest.mark.parametrize("roles", ["", "verifier=deaf drafter=deaf"])
def test_a_killed_launcher_leaves_no_process_and_no_folder(roles: str) -> None:
    """The lifelines are cut, and the coordinator clears up what the launcher no longer can."""
    with _launcher("launch", "--json", *SIMULATED, roles=roles) as launch:
        pids = _await_serving(launch)
        launch.kill()

        assert _gone(pids)


def test_a_launcher_killed_while_it_ends_leaves_nothing() -> None:
    """Told to end, then killed because the deaf took too long, as service managers do."""
    with _launcher("launch", "--json", *SIMULATED, roles="verifier=deaf drafter=deaf") as launch:
        pids = _await_serving(launch)
        launch.send_signal(signal.SIGTERM)
        psutil.Process(pids["coordinator"]).wait(WITHIN_S)
        launch.kill()

        assert _gone(pids)


def test_a_terminal_that_goes_away_ends_the_launch() -> None:
    """Hanging up is a signal like others."""
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "tests.cli.launcher", "--", "launch", *SIMULATED]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True) as launch:
        os.close(theirs)
        shown = b""
        while b"serving" not in shown:
            shown += os.read(ours, 4096)
        os.close(ours)
        launch.send_signal(signal.SIGHUP)

        assert launch.wait(WITHIN_S) == 129


def test_a_launcher_killed_while_loading_leaves_no_process_and_no_folder() -> None:
    """Also processes that are not ready yet are held by their lifelines."""
    with _launcher("launch", "--json", *SIMULATED, roles="verifier=never") as launch:
        assert launch.stdout is not None
        pids: dict[str, int] = {}
        while len(pids) < 2:
            event = json.loads(launch.stdout.readline())
            if event["event"] == "ready":
                pids[event["role"]] = event["pid"]
        launch.kill()

        assert _gone(pids)


def test_the_death_of_the_coordinator_ends_the_launch_with_70() -> None:
    """One clear final line, and a status that a service manager restarts on."""
    with _launcher("launch", "--json", *SIMULATED) as launch:
        pids = _await_serving(launch)
        os.kill(pids["coordinator"], signal.SIGKILL)
        _, told = launch.communicate(timeout=WITHIN_S)

        assert launch.returncode == 70
        assert told == "specpipe: the coordinator died: it was ended by signal 9 (Killed)\n"
        assert _gone(pids)


@pytest.mark.parametrize("role", ["drafter", "verifier"])
def test_a_killed_worker_comes_back(role: str) -> None:
    """The launch goes on, and says what happened."""
    with _launcher("launch", "--json", *SIMULATED) as launch:
        pids = _await_serving(launch)
        os.kill(pids[role], signal.SIGKILL)
        assert launch.stdout is not None
        kinds: list[str] = []
        while "ready" not in kinds:
            kinds.append(json.loads(launch.stdout.readline())["event"])
        launch.send_signal(signal.SIGINT)

        assert "restarting" in kinds
        assert launch.wait(WITHIN_S) == 130


def test_a_start_that_is_refused_tells_the_first_cause() -> None:
    """The role's own sentence and status come out of the launcher."""
    ended = _run("launch", *SIMULATED, roles="verifier=refuse")

    assert ended.returncode == 64
    assert ended.stderr.splitlines()[-1] == "specpipe: the verifier cannot read its model"


def test_two_instances_run_side_by_side() -> None:
    """Nothing of an instance has a fixed name."""
    with _launcher("launch", "--json", *SIMULATED) as one, _launcher("launch", "--json", *SIMULATED) as two:
        first, second = _await_serving(one), _await_serving(two)
        for launch in (one, two):
            launch.send_signal(signal.SIGTERM)

        assert set(first.values()).isdisjoint(second.values())
        assert [launch.wait(WITHIN_S) for launch in (one, two)] == [143, 143]


def test_generate_starts_an_instance_for_one_answer() -> None:
    """The answer is on standard output, and the processes are gone after it."""
    ended = _run("generate", *SIMULATED, "Hi")

    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "Hello world\n", "")


def test_generate_prints_one_object() -> None:
    """For programs there is JSON, and nothing else."""
    ended = _run("generate", *SIMULATED, "--json", "--seed", str(2**64 - 1), "Hi")
    answer = json.loads(ended.stdout)

    assert answer["text"] == "Hello world"
    assert (answer["token_ids"], answer["seed"]) == ([1, 2], 2**64 - 1)
    assert ended.stderr == ""


def test_statistics_are_shown_beside_the_answer() -> None:
    """They go to standard error, so the answer can be piped."""
    ended = _run("generate", *SIMULATED, "--stats", "Hi")

    assert ended.stdout == "Hello world\n"
    assert "tokens per second" in ended.stderr


def test_generate_uses_an_instance_that_runs() -> None:
    """No second pair is started where one fits: stand-ins that would refuse are not even tried."""
    with _launcher("launch", "--json", *SIMULATED) as launch:
        _await_serving(launch)
        ended = _run("generate", *SIMULATED, "Hi", roles="coordinator=refuse")
        launch.send_signal(signal.SIGTERM)
        launch.wait(WITHIN_S)

    assert (ended.returncode, ended.stdout) == (0, "Hello world\n")


@pytest.mark.parametrize("other", [("--draft", "none"), ("--lanes", "3"), ("--no-batch-invariant",)])
def test_generate_uses_no_instance_that_does_not_fit(other: tuple[str, ...]) -> None:
    """Another draft, or what is fixed at the start, needs an instance of its own."""
    with _launcher("launch", "--json", *SIMULATED) as launch:
        _await_serving(launch)
        ended = _run("generate", *SIMULATED, *other, "Hi", roles="coordinator=refuse")
        launch.send_signal(signal.SIGTERM)
        launch.wait(WITHIN_S)

    assert ended.returncode == 64


def test_status_shows_what_runs() -> None:
    """Each instance is shown with what it says of itself."""
    with _launcher("launch", "--json", *SIMULATED) as launch:
        _await_serving(launch)
        shown = _run("status", "--json")
        table = _run("status")
        launch.send_signal(signal.SIGTERM)
        launch.wait(WITHIN_S)

    (each,) = json.loads(shown.stdout)
    assert each["instance"]["pid"] == launch.pid
    assert each["status"]["serving"]
    assert "simulated" in table.stdout


def test_a_prompt_comes_from_standard_input() -> None:
    """`-` reads it; bytes that are no UTF-8 are refused with a sentence."""
    command = [sys.executable, "-m", "tests.cli.launcher", "--", "generate", *SIMULATED, "-"]
    good = subprocess.run(command, input=b"fail\n", capture_output=True, check=False)
    bad = subprocess.run(command, input=b"caf\xe9", capture_output=True, check=False)

    assert (good.returncode, good.stderr) == (70, b"specpipe: the verifier died\n")
    assert (bad.returncode, bad.stderr) == (64, b"specpipe: prompt: standard input is not valid UTF-8\n")


@pytest.mark.parametrize("prompt", ["", " ", "\n"])
def test_an_empty_prompt_is_one_sentence(prompt: str) -> None:
    """Nothing is started for it."""
    ended = _run("generate", *SIMULATED, prompt, roles="coordinator=crash")

    assert ended.returncode == 64
    assert ended.stderr == "specpipe: the prompt is empty: say something to be answered\n"


def test_ctrl_c_in_an_answer_cancels_it(notes: Path) -> None:
    """What was written stays, the coordinator hears of it, and the status is 130."""
    with _launcher("generate", *SIMULATED, "linger") as generate:
        assert generate.stdout is not None
        begun = generate.stdout.read(5)
        generate.send_signal(signal.SIGINT)
        status = generate.wait(WITHIN_S)

    assert (begun, status) == ("Hello", 130)
    assert (notes / "cancelled").exists()


@pytest.mark.parametrize("option", [("--target-gpu", "7"), ("--draft-device", "cuda:7"), ("--draft-gpu", "7")])
def test_a_gpu_that_does_not_exist_is_one_sentence(option: tuple[str, str]) -> None:
    """It is said before anything is started."""
    ended = _run("launch", *SIMULATED, *option, roles="coordinator=crash")

    assert ended.returncode == 64
    assert ended.stderr.startswith("specpipe: there is no GPU 7: ")
    assert ended.stderr.count("\n") == 1
