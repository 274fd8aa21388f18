"""Imports go down only, and processes that need no tensors do not load torch."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "specpipe"
WITH_TORCH = {"models", "sampling", "drafter", "verifier"}
HEAVY = {"torch", "transformers"}
_SAY_WHAT_IS_HEAVY = f"""
import importlib, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
print(*sorted({HEAVY!r} & set(sys.modules)))
"""


def _rooms() -> list[str]:
    names = {path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in PACKAGE.rglob("*.py")}
    return sorted(names - WITH_TORCH - {"__init__", "__main__"})


def _modules(room: str) -> list[str]:
    files = [*(PACKAGE / room).rglob("*.py"), *PACKAGE.glob(f"{room}.py")]
    parts = [path.relative_to(ROOT).with_suffix("").parts for path in files if path.stem != "__main__"]
    return sorted(".".join(part).removesuffix(".__init__") for part in parts)


def test_the_contracts_of_import_linter_hold() -> None:
    """The floors, and the homes of torch and zmq, are as pyproject.toml draws them."""
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("room", _rooms())
def test_a_cheap_room_loads_no_torch(room: str) -> None:
    """Importing every module of the room, in a process of its own, leaves torch and transformers unloaded."""
    command = [sys.executable, "-c", _SAY_WHAT_IS_HEAVY, *_modules(room)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert (done.stdout.strip(), done.stderr) == ("", "")


def test_no_room_is_forgotten() -> None:
    """The rooms that may load torch exist, and the faces are among those that may not."""
    assert all((PACKAGE / room).is_dir() for room in WITH_TORCH)
    assert {"cli", "client", "coordinator", "supervisor"} <= set(_rooms())
