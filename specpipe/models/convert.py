"""GGUF files become model folders in the user's cache: once, whole or not at all, whoever asks first.

`python -m specpipe.models.convert FILE PIPE` does the work, so that the process which needs the folder never
loads what the conversion needs.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock

from specpipe.errors import ModelError, SpecpipeError
from specpipe.lifeline import Lifeline
from specpipe.models.gguf import write_model

FORMAT = 1
_SEAL = "converted.json"


def cache_folder() -> Path:
    """Return where converted models are kept: `$SPECPIPE_CACHE`, else in the user's cache folder."""
    if own := os.environ.get("SPECPIPE_CACHE"):
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "specpipe"


def converted(source: Path) -> Path:
    """Return the folder of a GGUF file's model, made now if it is not there; raise `ModelError`."""
    folder = _folder(source)
    if not _whole(folder):
        _convert_apart(source)
    if not _whole(folder):
        raise ModelError(f"{folder} was not written; see whether there is room for it")
    return folder


def convert(source: Path) -> None:
    """Make the folder of a GGUF file's model unless it is there and whole; waits for whoever is at it already."""
    folder = _folder(source)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.with_name(folder.name + ".lock")):
        if _whole(folder):
            return
        part = folder.with_name(folder.name + ".part")
        for leftover in (part, folder):
            shutil.rmtree(leftover, ignore_errors=True)
        part.mkdir()
        write_model(source, part)
        _seal(part, source)
        part.rename(folder)


def _folder(source: Path) -> Path:
    """Return where the model of this file's contents belongs."""
    try:
        with source.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelError(f"cannot read {source}: {error.strerror}") from error
    return cache_folder() / "models" / f"{source.stem}-{digest[:16]}-v{FORMAT}"


def _seal(folder: Path, source: Path) -> None:
    """Note the sizes of all files, and see them on the disk before the folder gets its name."""
    sizes = {path.name: path.stat().st_size for path in folder.iterdir()}
    (folder / _SEAL).write_text(json.dumps({"source": source.name, "sizes": sizes}, indent=2), "utf-8")
    for path in folder.iterdir():
        with path.open("rb") as file:
            os.fsync(file.fileno())


def _whole(folder: Path) -> bool:
    """Return whether the folder is there with all files as long as they were written."""
    try:
        sizes: dict[str, Any] = json.loads((folder / _SEAL).read_text("utf-8"))["sizes"]
        return all((folder / name).stat().st_size == size for name, size in sizes.items())
    except (OSError, ValueError, KeyError):
        return False


def _convert_apart(source: Path) -> None:
    """Convert in a process of its own, which ends with this one."""
    with _pipe() as lifeline:
        command = [sys.executable, "-m", "specpipe.models.convert", str(source), str(lifeline)]
        done = subprocess.run(  # noqa: S603 - our own module, on a path that was just read
            command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, pass_fds=(lifeline,), check=False
        )
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        raise ModelError(lines[-1] if lines else f"the conversion of {source} ended with status {done.returncode}")


@contextmanager
def _pipe() -> Iterator[int]:
    """Yield the end of a pipe that closes when this process is gone, however it goes."""
    theirs, ours = os.pipe()
    try:
        yield theirs
    finally:
        os.close(theirs)
        os.close(ours)


def main() -> int:
    """Convert the named file, while the pipe beside it is open; the last line on standard error says what failed."""
    Lifeline(int(sys.argv[2]), grace_s=0.0)
    try:
        convert(Path(sys.argv[1]))
    except SpecpipeError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    except OSError as error:
        sys.stderr.write(f"cannot write to {cache_folder()}: {error.strerror}\n")
        return ModelError.exit_code
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
