"""The real processes on simulated devices that are quick, so that only the processes take time."""

import os
import subprocess
import sys
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psutil

from specpipe.cli.answers import Whole, read
from specpipe.client.asking import Options, ask_ids
from specpipe.client.client import Client
from specpipe.settings import ModelSettings, Settings, SimulatedSettings
from specpipe.supervisor.events import Event
from specpipe.supervisor.machine import survey
from specpipe.supervisor.supervisor import Supervisor
from specpipe.words.planted import truth
from specpipe.words.prefix import child, extend, origin
from specpipe.words.sampling import Mode

# The promise is five seconds where cores are free; beside the tests other work may take them.
WITHIN_S = 20.0
SETTINGS = Settings(
    target=ModelSettings("simulated"),
    draft=ModelSettings("simulated"),
    simulated=SimulatedSettings(draft_ms=1.0, target_ms=10.0),
)
CONFIG = '[target]\nname = "simulated"\n[draft]\nname = "simulated"\n[simulated]\ndraft_ms = 1.0\ntarget_ms = 10.0\n'
PROMPT = [3, 1, 4, 1, 5]


@contextmanager
def instance(events: list[Event] | None = None, trace: Path | None = None) -> Iterator[tuple[Supervisor, Client]]:
    """Give an instance and a client of it."""
    heard: list[Event] = [] if events is None else events
    supervisor = Supervisor(SETTINGS, survey(0), report=heard.append, trace=trace)
    with supervisor, Client(supervisor.clients_address, check=supervisor.check) as client:
        yield supervisor, client


def answer(client: Client, mode: Mode, tokens: int) -> Whole:
    """Have the answer to the one prompt written in a mode."""
    options = Options(mode=mode, max_tokens=tokens, seed=1, ignore_eos=True)
    return read(client.ask(ask_ids(PROMPT, options)), lambda _: None)


def planted(tokens: list[int]) -> bool:
    """Tell whether these are what the simulated target writes after the prompt, in one of the first requests."""
    return any(_truth(number, len(tokens)) == tokens for number in range(1, 50))


def _truth(number: int, count: int) -> list[int]:
    prefix, tokens = extend(origin(number), PROMPT), list[int]()
    for _ in range(count):
        tokens.append(truth(prefix, SETTINGS.simulated.w))
        prefix = child(prefix, tokens[-1])
    return tokens


@contextmanager
def command(config: Path, *words: str) -> Iterator["subprocess.Popen[str]"]:
    """Start a command of specpipe with the settings of these tests."""
    config.write_text(CONFIG, "utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "specpipe", words[0], "--config", str(config), *words[1:]],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def descendants(pid: int) -> list[psutil.Process]:
    """Return all processes that descend from one."""
    return psutil.Process(pid).children(recursive=True)


def role_of(process: psutil.Process) -> str:
    """Return which role a process plays, or nothing if none."""
    try:
        words = process.cmdline()
    except psutil.Error:
        return ""
    return next((word for word in words if word in ("coordinator", "drafter", "verifier")), "")


def await_role(pid: int, role: str, but: Collection[int] = ()) -> psutil.Process:
    """Return the child of `pid` that plays `role`, as soon as it is there, and is none of those in `but`."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for process in descendants(pid):
            if process.pid not in but and role_of(process) == role:
                return process
        time.sleep(0.05)
    raise TimeoutError(f"{pid} never started a {role}")


def gone(processes: Sequence[psutil.Process]) -> bool:
    """Tell whether all processes end within the promised time; none of them is a child of ours."""
    return not psutil.wait_procs(processes, timeout=WITHIN_S)[1]


def run_folders() -> list[Path]:
    """Return the run folders of the session."""
    base = Path(os.environ["XDG_RUNTIME_DIR"], "specpipe")
    return sorted(base.iterdir()) if base.is_dir() else []
