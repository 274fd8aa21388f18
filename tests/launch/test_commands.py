"""Every command that people are told to type is one that the command line understands."""

import contextlib
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from specpipe.cli.main import group

ROOT = Path(__file__).parents[2]
TEXTS = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "launch").rglob("*.md")]
SCRIPTS = [*(ROOT / "launch").rglob("*.sh")]
_BLOCK = re.compile(r"^```sh\n(.*?)^```", re.DOTALL | re.MULTILINE)
_INLINE = re.compile(r"`(specpipe [^`]+)`")
_OPERATORS = {"|", ">", "&&"}


def _lines() -> Iterator[str]:
    for page in sorted(TEXTS):
        text = page.read_text("utf-8")
        yield from _INLINE.findall(text)
        for block in _BLOCK.findall(text):
            yield from block.splitlines()
    for script in sorted(SCRIPTS):
        yield from script.read_text("utf-8").splitlines()


def _commands() -> list[list[str]]:
    """Return the words after `specpipe` of each command, up to a pipe or the like."""
    commands = []
    for line in _lines():
        words = ["F" if "$root/configs" in word else word for word in shlex.split(line, comments=True) if word != "$@"]
        starts = [at for at, word in enumerate(words) if word == "specpipe" or word.endswith("/bin/specpipe")]
        commands += [_before_operator(words[at + 1 :]) for at in starts]
    return [list(words) for words in dict.fromkeys(tuple(words) for words in commands if words)]


def _before_operator(words: list[str]) -> list[str]:
    return words[: next((at for at, word in enumerate(words) if word in _OPERATORS), len(words))]


@pytest.mark.parametrize("words", _commands(), ids=" ".join)
def test_a_documented_command_is_understood(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Command, options and values parse; a command that is only mentioned may lack its arguments. Nothing is run."""
    (tmp_path / "configs").symlink_to(ROOT / "configs")
    (tmp_path / "DIR").mkdir()
    (tmp_path / "F").touch()
    monkeypatch.chdir(tmp_path)
    command, rest = _resolved(words)

    with contextlib.suppress(click.MissingParameter):
        command.make_context(None, rest)


def _resolved(words: list[str]) -> tuple[click.Command, list[str]]:
    """Follow the words through groups of commands; one that does not exist is a `UsageError`."""
    command: click.Command = group
    while isinstance(command, click.Group) and words:
        _, found, words = command.resolve_command(click.Context(command), list(words))
        assert found is not None
        command = found
    return command, words


def test_the_documentation_has_commands() -> None:
    """The commands are found where they stand."""
    first_words = {words[0] for words in _commands()}

    assert {"generate", "launch", "bench", "coordinator", "verifier", "drafter"} <= first_words
