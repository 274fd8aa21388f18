"""Which device and dtype a model gets on this machine; known without importing torch, so a launcher may ask."""

import os
import subprocess
from importlib.util import find_spec
from pathlib import Path

from specpipe.errors import DeviceError
from specpipe.settings import Dtype

_DRIVER = Path("/proc/driver/nvidia/gpus")
_CPU_FACTS = Path("/proc/cpuinfo")
_BFLOAT16_FLAGS = frozenset({"avx512_bf16", "amx_bf16"})


def count_gpus() -> int:
    """Return how many GPUs PyTorch could use: those of the driver, fewer if `CUDA_VISIBLE_DEVICES` says so."""
    if not _torch_knows_cuda():
        return 0
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    present = _driver_gpus()
    return present if visible is None else min(present, _visible(visible))


def choose_device(name: str, gpus: int, turn: int = 0) -> str:
    """Return `cpu` or `cuda:N` for `auto`, `cpu`, `cuda` or `cuda:N`; `auto` takes the GPU numbered `turn`.

    Raises `DeviceError` for a GPU that is not there, and for any other name.
    """
    if name == "auto":
        return f"cuda:{turn}" if turn < gpus else "cpu"
    if name == "cpu":
        return name
    kind, _, digits = name.partition(":")
    if kind != "cuda" or not (digits.isdecimal() or name == "cuda"):
        raise DeviceError(f"{name!r} is no device; write auto, cpu, cuda or cuda:N")
    index = int(digits or 0)
    if index >= gpus:
        raise DeviceError(f"there is no GPU {index}: this machine has {_said(gpus)}")
    return f"cuda:{index}"


def choose_dtype(dtype: Dtype, device: str) -> str:
    """Return `float32` or `bfloat16`; `auto` is bfloat16 where the device multiplies it in hardware."""
    if dtype != "auto":
        return dtype
    return "bfloat16" if device != "cpu" or cpu_has_bfloat16() else "float32"


def cpu_has_bfloat16() -> bool:
    """Return whether this CPU multiplies bfloat16 in hardware (AVX512-BF16 or AMX)."""
    try:
        facts = _CPU_FACTS.read_text("ascii", "replace")
    except OSError:
        return False
    flags = next((line for line in facts.splitlines() if line.startswith("flags")), "")
    return not _BFLOAT16_FLAGS.isdisjoint(flags.split())


def _said(gpus: int) -> str:
    if gpus == 0:
        return "no GPU that PyTorch can use"
    return "one GPU, number 0" if gpus == 1 else f"{gpus} GPUs, numbered from 0"


def _torch_knows_cuda() -> bool:
    """Return whether the installed torch was built for CUDA, from the file in which it says so."""
    spec = find_spec("torch")
    if spec is None or spec.origin is None:
        return False
    version = Path(spec.origin).with_name("version.py")
    lines = version.read_text("utf-8").splitlines() if version.is_file() else []
    return any(line.startswith("cuda") and not line.rstrip().endswith("None") for line in lines)


def _visible(names: str) -> int:
    """Return how many of the listed GPUs count: CUDA ignores what follows the first invalid one."""
    valid = 0
    for name in names.split(","):
        if not name.strip() or name.strip().startswith("-"):
            break
        valid += 1
    return valid


def _driver_gpus() -> int:
    if _DRIVER.is_dir():
        return len(list(_DRIVER.iterdir()))
    try:
        listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=10, check=True)  # noqa: S607
    except (OSError, subprocess.SubprocessError):
        return 0
    return sum(line.startswith("GPU ") for line in listed.stdout.splitlines())
