"""The role commands settle, hold the lifeline, and run what they are named after."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from specpipe.cli.role import read_settings, settle
from specpipe.errors import SettingsError
from specpipe.settings import Settings

_ROLE = """
import sys, types, os, signal, time
role = sys.argv[1]
module = types.ModuleType(f"specpipe.{role}.main")
def run(settings, folder, lifeline, trace):
    if lifeline is not None:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    print(settings.target.name, folder.name, lifeline, trace, sorted(os.sched_getaffinity(0)), os.nice(0), flush=True)
    if lifeline is not None:
        time.sleep(60)
module.run = run
sys.modules[module.__name__] = module
from specpipe.cli.main import run as main
sys.exit(main(sys.argv[1:]))
"""


def _start(role: str, folder: Path, *words: str, **kwargs: Any) -> "subprocess.Popen[bytes]":
    """Start a role command whose `main.run` prints what it was given."""
    command = [sys.executable, "-c", _ROLE, role, "--run-folder", str(folder), *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, **kwargs)


@pytest.mark.parametrize("role", ["coordinator", "drafter", "verifier"])
def test_a_role_is_run_where_and_how_it_was_told(role: str, tmp_path: Path) -> None:
    """Settings, folder, tracing, cores and priority arrive; without a lifeline it runs by itself."""
    config = tmp_path / "settings.json"
    config.write_text('{"target": {"name": "some"}}', "utf-8")
    core = min(os.sched_getaffinity(0))
    with _start(role, tmp_path, "--config", str(config), "--cores", str(core), "--nice", "5", "--trace") as process:
        assert process.stdout is not None
        said = process.stdout.read().decode()

    assert said == f"some {tmp_path.name} None True [{core}] {os.nice(0) + 5}\n"
    assert process.returncode == 0


def test_the_coordinator_removes_the_run_folder_when_its_supervisor_is_gone(tmp_path: Path) -> None:
    """The last to leave clears up what a killed supervisor could not."""
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "socket").touch()
    with _start("coordinator", folder, "--lifeline", "0", stdin=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        process.stdout.readline()
        process.stdin.close()
        process.wait(10)

    assert process.returncode == 0
    assert not folder.exists()


def test_a_coordinator_that_ends_by_itself_leaves_the_folder_to_its_supervisor(tmp_path: Path) -> None:
    """While the supervisor lives, the folder is its own: the traces are still to be read."""
    config = tmp_path / "settings.json"
    config.write_text("{", "utf-8")
    with _start(
        "coordinator", tmp_path, "--lifeline", "0", "--config", str(config), stdin=subprocess.PIPE, stderr=-3
    ) as process:
        process.wait(10)

    assert process.returncode == 64
    assert tmp_path.exists()


def test_without_a_file_all_settings_are_defaults() -> None:
    """A role can be run by hand."""
    assert read_settings(None) == Settings()


@pytest.mark.parametrize("name", ["settings.toml", "settings.json"])
def test_a_broken_file_is_named(name: str, tmp_path: Path) -> None:
    """Whatever its format, the sentence says which file is wrong."""
    (tmp_path / name).write_text("{", "utf-8")

    with pytest.raises(SettingsError, match=name):
        read_settings(tmp_path / name)


@pytest.mark.parametrize("name", ["settings.toml", "settings.json"])
def test_a_missing_file_is_named(name: str, tmp_path: Path) -> None:
    """A file that is not there is told from one that is wrong."""
    with pytest.raises(SettingsError, match=r"cannot read .*: No such file"):
        read_settings(tmp_path / name)


def test_an_unknown_setting_is_named(tmp_path: Path) -> None:
    """A misspelt key is an error in JSON, too."""
    (tmp_path / "s.json").write_text('{"targget": {}}', "utf-8")

    with pytest.raises(SettingsError, match="targget"):
        read_settings(tmp_path / "s.json")


@pytest.mark.parametrize("cores", ["99999", "a", "-1"])
def test_cores_that_do_not_exist_are_refused(cores: str) -> None:
    """The role does not run elsewhere in silence."""
    with pytest.raises(SettingsError, match="cannot stay on cores"):
        settle(cores, 0)
