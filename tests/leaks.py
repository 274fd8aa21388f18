"""What a test may leave behind it: nothing. Two censuses, before and after, say what it did leave.

Counted are processes (children, and orphans that inherited the session's private runtime folder), Python
threads, the native threads of ZeroMQ contexts, file descriptors, run folders and shared memory.
"""

import gc
import os
import sys
import threading
import time
from dataclasses import dataclass
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Self

import psutil

GRACE_S = 3.0
_PAUSE_S = 0.02
_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - only listed
_TASKS = Path("/proc/self/task")
_DESCRIPTORS = Path("/proc/self/fd")

# Libraries open these once, for good: random seeds, the GPU driver, the facts of the machine.
_LASTING_FILES = ("/dev/urandom", "/dev/random", "/dev/null", "/dev/nvidia", "/sys/", "/proc/")


@dataclass(frozen=True, slots=True)
class Census:
    """What exists at one moment, as names that tell a person what each is."""

    pids: frozenset[int]
    things: frozenset[str]
    tasks: frozenset[str]

    @classmethod
    def take(cls, runtime: Path) -> Self:
        """Count what this process holds and what lies in the session's runtime folder."""
        # A new native thread names itself only when it first runs, which on a busy machine may be later.
        tasks = frozenset(task.name for task in _TASKS.iterdir()) if _TASKS.is_dir() else frozenset[str]()
        things = _threads() | _descriptors() | _entries(runtime) | _shared_memory()
        return cls(frozenset(psutil.pids()), frozenset(things), tasks)


def left_since(before: Census, runtime: Path, grace_s: float = GRACE_S) -> list[str]:
    """Return the names of what came since `before` and stays, after a short grace for what is just ending."""
    deadline = time.monotonic() + grace_s
    while left := _new(before, runtime):
        gc.collect()
        if time.monotonic() > deadline:
            break
        time.sleep(_PAUSE_S)
    return left


def end_processes(before: Census, runtime: Path) -> None:
    """Kill the processes that a test left, so that one leak does not fail the tests after it."""
    for process in _processes(frozenset(psutil.pids()) - before.pids, runtime):
        try:
            process.kill()
            process.wait(1)
        except psutil.Error:
            continue


def _new(before: Census, runtime: Path) -> list[str]:
    now = Census.take(runtime)
    processes = {_named(process) for process in _processes(now.pids - before.pids, runtime)}
    return sorted(processes | (now.things - before.things) | _native_threads(now.tasks - before.tasks))


def _processes(pids: frozenset[int], runtime: Path) -> list[psutil.Process]:
    return [psutil.Process(pid) for pid in sorted(pids) if _ours(pid, runtime)]


def _ours(pid: int, runtime: Path) -> bool:
    """Tell whether a process descends from this one or, an orphan, works in the session's runtime folder."""
    try:
        process = psutil.Process(pid)
        if os.getpid() in (parent.pid for parent in process.parents()):
            return not _tracks_resources(process)
        return process.environ().get("XDG_RUNTIME_DIR") == str(runtime)
    except psutil.Error:
        return False


def _tracks_resources(process: psutil.Process) -> bool:
    """Tell the tracker that multiprocessing starts once and keeps until the interpreter ends."""
    return any("multiprocessing.resource_tracker" in word for word in _words(process))


def _named(process: psutil.Process) -> str:
    return f"process {process.pid}: {' '.join(_words(process)) or 'ended, but not waited for'}"


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def _threads() -> set[str]:
    """Name Python's threads, but for the monitor that tqdm starts with its first bar and keeps."""
    threads = (thread for thread in threading.enumerate() if type(thread).__name__ != "TMonitor")
    return {f"thread {thread.name} ({thread.ident})" for thread in threads}


def _native_threads(tasks: frozenset[str]) -> set[str]:
    """Name those of `tasks` that are ZeroMQ's; the pools of torch, tokenizers and BLAS last as long as the process."""
    names = {task: _read(_TASKS / task / "comm") for task in tasks}
    return {f"native thread {name} ({task})" for task, name in names.items() if name.startswith("ZMQbg")}


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8").strip()
    except OSError:
        return ""


def _descriptors() -> set[str]:
    """Name the open descriptors, but for what libraries keep open and the pipe to multiprocessing's tracker."""
    if not _DESCRIPTORS.is_dir():
        return set()
    tracker = str(getattr(resource_tracker._resource_tracker, "_fd", None))
    targets = {entry.name: _target(entry) for entry in _DESCRIPTORS.iterdir() if entry.name != tracker}
    return {f"descriptor {number}: {target}" for number, target in targets.items() if _counts(target)}


def _target(entry: Path) -> str:
    try:
        return str(entry.readlink())
    except OSError:
        return ""


def _counts(target: str) -> bool:
    if not target or target.startswith(_LASTING_FILES):
        return False
    return target.startswith("/") or not _cuda_runs()


def _cuda_runs() -> bool:
    """Tell whether CUDA's driver has opened pipes and sockets of its own in this process, for good."""
    torch = sys.modules.get("torch")
    return torch is not None and torch.cuda.is_initialized()


def _entries(runtime: Path) -> set[str]:
    """Name the files and folders of instances; the folder that holds them all may stay."""
    return {f"file {path}" for path in runtime.rglob("*") if path != runtime / "specpipe"}


def _shared_memory() -> set[str]:
    if not _SHARED_MEMORY.is_dir():
        return set()
    return {f"shared memory {path.name}" for path in _SHARED_MEMORY.iterdir() if _mine(path)}


def _mine(path: Path) -> bool:
    try:
        return path.lstat().st_uid == os.getuid()
    except OSError:
        return False
