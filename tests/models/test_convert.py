import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from specpipe.errors import ModelError
from specpipe.models import convert
from specpipe.models.convert import cache_folder, converted
from tests.models.tiny_gguf import write_gguf
from tests.tiny import tiny_llama

_ASK = (
    "import sys; from pathlib import Path; from specpipe.models.convert import converted; converted(Path(sys.argv[1]))"
)


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a GGUF file, with an empty cache."""
    monkeypatch.setenv("SPECPIPE_CACHE", str(tmp_path / "cache"))
    return write_gguf(tiny_llama(tmp_path / "model", 1), tmp_path / "tiny.gguf")


@pytest.mark.parametrize(
    ("own", "xdg", "folder"),
    [("/a", "/b", "/a"), ("", "/b", "/b/specpipe"), ("", "", "/home/me/.cache/specpipe")],
)
def test_the_cache_is_where_the_user_wants_it(monkeypatch: pytest.MonkeyPatch, own: str, xdg: str, folder: str) -> None:
    """A variable of our own goes before the system's."""
    monkeypatch.setenv("SPECPIPE_CACHE", own)
    monkeypatch.setenv("XDG_CACHE_HOME", xdg)
    monkeypatch.setenv("HOME", "/home/me")

    assert cache_folder() == Path(folder)


def test_a_file_is_converted_once_without_torch_in_this_process(source: Path) -> None:
    """The second caller finds the folder as the first left it, and neither has loaded torch."""
    code = f"{_ASK}; assert not {{'torch', 'transformers'}} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code, str(source)], check=True)
    (folder,) = [path for path in (cache_folder() / "models").iterdir() if path.is_dir()]
    written = (folder / "model.safetensors").stat().st_mtime_ns

    assert converted(source) == folder
    assert (folder / "model.safetensors").stat().st_mtime_ns == written


def test_two_callers_at_once_get_one_whole_folder(source: Path) -> None:
    """The second waits for the first."""
    with ThreadPoolExecutor(2) as pool:
        folders = list(pool.map(converted, [source, source]))

    assert folders[0] == folders[1]
    assert sorted(path.name for path in folders[0].parent.iterdir()) == [folders[0].name, f"{folders[0].name}.lock"]


def test_a_conversion_that_was_killed_is_done_again(source: Path) -> None:
    """Nothing of a half-written folder is ever used, and the converter ends with the process that asked."""
    child = subprocess.Popen([sys.executable, "-c", _ASK, str(source)])
    part = _awaited(cache_folder() / "models")
    os.kill(child.pid, signal.SIGKILL)
    child.wait()

    folder = converted(source)

    assert part == folder.with_name(f"{folder.name}.part")
    assert not part.exists()
    assert (folder / "tokenizer.json").is_file()


def _awaited(models: Path) -> Path:
    """Return the folder in the making, once there is one."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if parts := list(models.glob("*.part")):
            return parts[0]
        time.sleep(0.005)
    raise TimeoutError("no conversion began")


def test_a_damaged_folder_is_made_again(source: Path) -> None:
    """A full disk or a hasty hand may have been at it."""
    folder = converted(source)
    path = folder / "model.safetensors"
    size = path.stat().st_size
    path.write_bytes(path.read_bytes()[:1000])

    assert converted(source) == folder
    assert path.stat().st_size == size


def test_another_file_of_the_same_name_has_a_folder_of_its_own(source: Path) -> None:
    """Folders are keyed by contents."""
    first = convert._folder(source)
    source.write_bytes(source.read_bytes() + b"\0")

    assert convert._folder(source) != first


def test_what_cannot_be_converted_is_said_in_one_sentence(source: Path) -> None:
    """The converter's own sentence reaches the caller."""
    source.write_bytes(b"GGUF nonsense")

    with pytest.raises(ModelError, match="not a GGUF file"):
        converted(source)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """Before anything is started."""
    with pytest.raises(ModelError, match=r"nothing\.gguf"):
        converted(tmp_path / "nothing.gguf")


def test_a_cache_that_cannot_be_written_is_named(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file lies where the folder should be."""
    monkeypatch.setenv("SPECPIPE_CACHE", str(source))

    with pytest.raises(ModelError, match="cannot write to"):
        converted(source)
