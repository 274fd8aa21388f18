"""What this process may use of the machine: its cores, and how much of them a container allows."""

import os
from pathlib import Path

from specpipe.supervisor.placement import Machine

_CPU_MAX = Path("/sys/fs/cgroup/cpu.max")


def survey(gpus: int) -> Machine:
    """Return the machine with `gpus` GPUs and the cores of this process's affinity, no more than its quota."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else list(range(os.cpu_count() or 1))
    return Machine(tuple(cores[: quota(_read(_CPU_MAX), len(cores))]), gpus)


def quota(cpu_max: str, cores: int) -> int:
    """Return how many whole cores a container's `cpu.max` ("quota period", in microseconds) allows, 1 at least."""
    match cpu_max.split():
        case [allowed, period] if allowed.isdecimal() and period.isdecimal() and int(period):
            return max(1, min(cores, int(allowed) // int(period)))
    return cores


def _read(path: Path) -> str:
    try:
        return path.read_text("ascii")
    except OSError:
        return ""
