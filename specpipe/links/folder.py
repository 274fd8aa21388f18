"""The private folders of running instances: where their sockets live and where clients find them.

The process that creates a folder holds a lock on it for life. The system drops the lock with the process, however
that ends, so a folder without one is left over. A process id would not tell: it may be used again, and means nothing
in another container.
"""

import fcntl
import os
import secrets
import shutil
import stat
from pathlib import Path
from typing import Self

import msgspec
from msgspec import Struct

from specpipe.errors import SettingsError

_REGISTRY = "instance.json"


class Instance(Struct, frozen=True):
    """What a running instance says of itself; `clients` is the address for `Ask`, `created` seconds since 1970."""

    pid: int
    version: str
    target: str
    draft: str
    dtype: str
    clients: str
    created: float


class RunFolder:
    """The folder of one instance, held by the process that created it; a context manager that removes it."""

    def __init__(self, path: Path, lock: int) -> None:
        self.path = path
        self._lock = lock

    @classmethod
    def create(cls, base: Path | None = None) -> Self:
        """Make a folder with a random name and mode 0700 below `base` (`base_folder()` unless given).

        Raise `SettingsError` if the base is not a private folder of this user.
        """
        base = _private(base or base_folder())
        _living(base)
        while True:
            path = base / secrets.token_hex(4)
            lock = _claimed(path)
            if lock is not None:
                return cls(path, lock)

    def remove(self) -> None:
        """Remove the folder with all that is in it. A second time does nothing."""
        if self._lock >= 0:
            discard(self.path)
            os.close(self._lock)
            self._lock = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


def base_folder() -> Path:
    """Return the folder that holds all run folders of this user; it need not exist yet."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if runtime and _owned(Path(runtime)):
        return Path(runtime, "specpipe")
    return Path("/tmp", f"specpipe-{os.geteuid()}")  # noqa: S108 - made private and checked before any use


def register(folder: Path, instance: Instance) -> None:
    """Let clients find the instance in `folder`; whoever reads sees the whole of it or nothing."""
    draft = folder / f".{_REGISTRY}-{secrets.token_hex(3)}"
    draft.write_bytes(msgspec.json.encode(instance))
    draft.replace(folder / _REGISTRY)


def running(base: Path | None = None) -> list[Instance]:
    """Return the registered instances whose creator is alive, newest first, and remove what dead ones left.

    Raise `SettingsError` if the base exists and is not a private folder of this user.
    """
    base = base or base_folder()
    if not os.path.lexists(base):
        return []
    found = [_registered(folder) for folder in _living(_private(base))]
    return sorted((instance for instance in found if instance is not None), key=lambda each: -each.created)


def discard(folder: Path) -> None:
    """Remove a run folder, also from a process that did not create it."""
    shutil.rmtree(folder, ignore_errors=True)


def _owned(path: Path) -> bool:
    try:
        facts = path.stat()
    except OSError:
        return False
    return stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.geteuid()


def _private(base: Path) -> Path:
    try:
        base.mkdir(mode=0o700, exist_ok=True)
        facts = base.lstat()
    except OSError as error:
        raise SettingsError(f"cannot use {base} for sockets: {error.strerror}; set XDG_RUNTIME_DIR") from error
    if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != os.geteuid() or facts.st_mode & 0o077:
        raise SettingsError(f"{base} must be a folder of your own with mode 0700; remove it and try again")
    return base


def _claimed(path: Path) -> int | None:
    try:
        path.mkdir(mode=0o700)
        lock = _opened(path)
    except (FileExistsError, FileNotFoundError):
        return None
    except OSError as error:
        raise SettingsError(f"cannot make a folder in {path.parent}: {error.strerror}; make room there") from error
    fcntl.flock(lock, fcntl.LOCK_EX)
    # Another process may have taken it for a left-over one just before it was locked.
    if path.exists():
        return lock
    os.close(lock)
    return None


def _opened(path: Path) -> int:
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)


def _living(base: Path) -> list[Path]:
    return [path for path in sorted(base.iterdir()) if _alive(path)]


def _alive(path: Path) -> bool:
    """Whether this is a run folder whose creator is alive; one whose creator is dead is removed."""
    try:
        lock = _opened(path)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        discard(path)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False


def _registered(folder: Path) -> Instance | None:
    try:
        return msgspec.json.decode((folder / _REGISTRY).read_bytes(), type=Instance)
    except (OSError, msgspec.DecodeError):
        return None
