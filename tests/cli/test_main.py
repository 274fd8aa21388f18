"""The command line as a whole: what it costs to start, and how everything that ends it becomes a status."""

import os
import subprocess
import sys

import click
import pytest

from specpipe.cli import main
from specpipe.errors import BusyError, ModelError, PeerError
from specpipe.supervisor.signals import Interrupted

HEAVY = ("torch", "transformers", "numpy", "zmq", "rich", "msgspec")


def _raise(error: BaseException) -> None:
    """Raise, as the body of a command."""
    raise error


def _ends_with(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> int:
    """Run a command that ends with `error`."""
    monkeypatch.setattr(
        "specpipe.cli.commands.Commands.get_command",
        lambda *_: click.Command("broken", callback=lambda: _raise(error)),
    )
    return main.run(["broken"])


def test_help_loads_nothing_heavy() -> None:
    """The overview is there at once, since no command is loaded for it."""
    script = f"""
import sys
from specpipe.cli.main import run
assert run(["--help"]) == 0
print("LOADED", [name for name in {HEAVY} if name in sys.modules])
"""
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout

    assert shown.splitlines()[-1] == "LOADED []"
    assert all(command in shown for command in ("generate", "launch", "status", "bench"))


@pytest.mark.parametrize("words", [["--nonsense"], ["nonsense"], ["coordinator"], ["generate"]])
def test_bad_usage_is_64(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """An unknown option or command, or one that is missing, is told in click's words with our status."""
    assert main.run(words) == 64
    assert "Usage:" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "status"),
    [(ModelError("no such model"), 64), (PeerError("nobody"), 69), (BusyError("full"), 75)],
)
def test_our_errors_are_one_line(
    error: Exception, status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The sentence is all that the user sees."""
    assert _ends_with(error, monkeypatch) == status
    assert capsys.readouterr().err == f"specpipe: {error}\n"


def test_a_bug_is_one_line_as_well(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Even where the message has several lines; where to look further is said."""
    monkeypatch.delenv("SPECPIPE_LOG", raising=False)
    status = _ends_with(RuntimeError("two\nlines"), monkeypatch)
    shown = capsys.readouterr().err

    assert status == 70
    assert shown == "specpipe: unexpected RuntimeError: two lines; SPECPIPE_LOG=DEBUG shows where\n"


def test_a_bug_is_traced_on_demand(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """With SPECPIPE_LOG=DEBUG the traceback is there."""
    monkeypatch.setenv("SPECPIPE_LOG", "DEBUG")
    _ends_with(RuntimeError("boom"), monkeypatch)

    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "status"), [(KeyboardInterrupt(), 130), (Interrupted(2), 130), (Interrupted(15), 143)]
)
def test_signals_are_told_by_the_status(error: BaseException, status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """128 and the number of the signal, as shells have it."""
    assert _ends_with(error, monkeypatch) == status


def test_a_reader_that_went_away_is_no_error() -> None:
    """What is piped into `head` ends quietly."""
    read, written = os.pipe()
    os.close(read)
    ended = subprocess.run(
        [sys.executable, "-m", "specpipe", "status", "--json"], stdout=written, stderr=subprocess.PIPE, check=False
    )
    os.close(written)

    assert ended.stderr == b""
    assert ended.returncode == 141


def test_the_version_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """`--version` names the program and its version."""
    assert main.run(["--version"]) == 0
    assert capsys.readouterr().out.startswith("specpipe, version ")
