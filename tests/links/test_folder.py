"""Run folders are private, found by others while their creator lives, and swept when it is dead."""

import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from specpipe.errors import SettingsError
from specpipe.links.folder import Instance, RunFolder, base_folder, discard, register, running

_CREATE_AND_STAY = """
import sys
from pathlib import Path
from specpipe.links.folder import Instance, RunFolder, register
folder = RunFolder.create(Path(sys.argv[1]))
if sys.argv[2] == "registered":
    register(folder.path, Instance(1, "0", "t", "d", "float32", "ipc://c", 5.0))
print(folder.path, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """Return the path of a base folder that does not exist yet."""
    return tmp_path / "specpipe"


def instance(created: float = 1.0) -> Instance:
    """Return an instance as it would register."""
    return Instance(os.getpid(), "0.1", "smollm2", "auto", "float32", "ipc:///c", created)


@contextmanager
def another(base: Path, registered: str = "registered") -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """Yield another process that holds a run folder, and the path of that."""
    command = [sys.executable, "-c", _CREATE_AND_STAY, str(base), registered]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process, Path(process.stdout.readline().strip())
        process.kill()


def mode(path: Path) -> int:
    """Return the permission bits."""
    return stat.S_IMODE(path.lstat().st_mode)


def test_folders_are_private_and_named_at_random(base: Path) -> None:
    """Nobody else can look in or guess the name, whatever the umask."""
    old = os.umask(0)
    try:
        with RunFolder.create(base) as one, RunFolder.create(base) as other:
            assert one.path != other.path
            assert [mode(base), mode(one.path), mode(other.path)] == [0o700] * 3
            assert {one.path.parent, other.path.parent} == {base}
    finally:
        os.umask(old)


def test_the_path_leaves_room_for_socket_names() -> None:
    """A socket's path has 107 bytes; the usual folder uses less than half of them."""
    with RunFolder.create() as folder:
        assert len(os.fsencode(folder.path)) < 50


def test_the_runtime_directory_is_used_where_there_is_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Else, or where it is not a folder of this user, a folder in /tmp named by the user is."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert base_folder() == tmp_path / "specpipe"
    fallback = Path(f"/tmp/specpipe-{os.geteuid()}")  # noqa: S108 - only named
    for useless in ("", str(tmp_path / "missing"), "/proc/1/fd/0"):
        monkeypatch.setenv("XDG_RUNTIME_DIR", useless)
        assert base_folder() == fallback


def test_a_planted_symlink_is_refused_and_not_followed(base: Path, tmp_path: Path) -> None:
    """Whoever created the name first cannot choose where our sockets go."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    base.symlink_to(elsewhere)
    for use in (RunFolder.create, running):
        with pytest.raises(SettingsError, match="a folder of your own with mode 0700"):
            use(base)

    assert list(elsewhere.iterdir()) == []


def test_a_dangling_symlink_and_a_file_are_refused(base: Path) -> None:
    """What is no folder is not used and not removed."""
    base.symlink_to(base.parent / "nothing")
    with pytest.raises(SettingsError):
        RunFolder.create(base)
    base.unlink()
    base.touch()
    with pytest.raises(SettingsError):
        RunFolder.create(base)

    assert base.is_file()


@pytest.mark.parametrize("bits", [0o755, 0o701, 0o770, 0o1777])
def test_a_base_that_others_may_enter_is_refused(base: Path, bits: int) -> None:
    """A folder with wider permissions may already hold what others planted."""
    base.mkdir()
    base.chmod(bits)
    for use in (RunFolder.create, running):
        with pytest.raises(SettingsError, match="0700"):
            use(base)


def test_a_base_of_another_owner_is_refused(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that someone else made in our name is not ours."""
    base.mkdir(mode=0o700)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(SettingsError, match="your own"):
        RunFolder.create(base)


def test_a_base_that_cannot_be_made_is_said_in_a_sentence(tmp_path: Path) -> None:
    """No traceback where the place does not exist."""
    with pytest.raises(SettingsError, match="set XDG_RUNTIME_DIR"):
        RunFolder.create(tmp_path / "missing" / "specpipe")


def test_removing_twice_is_removing_once(base: Path) -> None:
    """Whatever lies in the folder goes with it."""
    folder = RunFolder.create(base)
    register(folder.path, instance())
    (folder.path / "e-123").touch()
    folder.remove()
    folder.remove()

    assert list(base.iterdir()) == []


def test_a_folder_that_is_gone_already_is_no_error(base: Path) -> None:
    """Two processes may both clean up."""
    folder = RunFolder.create(base)
    discard(folder.path)
    discard(folder.path)
    folder.remove()


def test_live_instances_are_found_newest_first(base: Path) -> None:
    """What was registered is what is read, also from another process."""
    with another(base), RunFolder.create(base) as one, RunFolder.create(base) as two:
        register(one.path, instance(7.0))
        register(two.path, instance(3.0))
        register(two.path, instance(4.0))

        assert running(base) == [
            instance(7.0),
            Instance(1, "0", "t", "d", "float32", "ipc://c", 5.0),
            instance(4.0),
        ]


def test_nothing_runs_where_nothing_was_started(base: Path) -> None:
    """Looking does not create the base folder."""
    assert running(base) == []
    assert not base.exists()


def test_the_folder_of_a_killed_process_is_swept(base: Path) -> None:
    """After kill -9 nothing is found, and nothing is left once someone has looked."""
    with another(base) as (process, path):
        assert len(running(base)) == 1
        process.kill()
        process.wait()

        assert running(base) == []
        assert not path.exists()


def test_starting_sweeps_too(base: Path) -> None:
    """A new instance clears away what a killed one left."""
    with another(base) as (process, path):
        process.kill()
        process.wait()
        with RunFolder.create(base) as folder:
            assert list(base.iterdir()) == [folder.path]
        assert not path.exists()


def test_a_recycled_process_id_keeps_nothing_alive(base: Path) -> None:
    """The registry names a process that lives, but it is not the one that created the folder."""
    with another(base) as (process, path):
        register(path, instance())
        process.kill()
        process.wait()

        assert running(base) == []
        assert not path.exists()


def test_a_folder_in_the_making_is_left_alone(base: Path) -> None:
    """Its creator lives and has not registered yet."""
    with another(base, "not yet") as (_, path):
        assert running(base) == []
        assert path.is_dir()


@pytest.mark.parametrize(("module", "step"), [(os, "mkdir"), (os, "open")])
def test_a_folder_swept_before_it_was_locked_is_made_again(
    base: Path, monkeypatch: pytest.MonkeyPatch, module: object, step: str
) -> None:
    """In the moments between making, opening and locking, another process may take it for a left-over one."""
    real = getattr(module, step)
    swept: list[Path] = []

    def lose_it_then(path: Path, *rest: int, **more: int | None) -> int | None:
        result: int | None = real(path, *rest, **more)
        if Path(path).parent == base and path not in swept and len(swept) < 2:
            swept.append(Path(path))
            running(base)
        return result

    monkeypatch.setattr(module, step, lose_it_then)
    with RunFolder.create(base) as folder:
        assert folder.path.is_dir()
        assert folder.path not in swept
        assert len(swept) == 2


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", json.dumps({"pid": "x"}).encode()])
def test_a_registry_that_is_none_is_skipped(base: Path, content: bytes) -> None:
    """One broken instance does not hide the others."""
    with RunFolder.create(base) as broken, RunFolder.create(base) as whole:
        (broken.path / "instance.json").write_bytes(content)
        register(whole.path, instance())

        assert running(base) == [instance()]
        assert broken.path.is_dir()


def test_what_is_no_run_folder_is_left_alone(base: Path, tmp_path: Path) -> None:
    """Files and symlinks in the base are neither followed nor removed."""
    precious = tmp_path / "precious"
    precious.mkdir()
    base.mkdir(mode=0o700)
    (base / "file").touch()
    (base / "link").symlink_to(precious)

    assert running(base) == []
    assert precious.is_dir()
    assert {path.name for path in base.iterdir()} == {"file", "link"}
