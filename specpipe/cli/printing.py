"""How the commands write: for people where someone watches, as JSON for programs."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click
from rich.console import Console
from rich.table import Table


def console(*, stderr: bool = True) -> Console:
    """Return a console for people: standard error, so that standard output holds nothing but the answer."""
    return Console(stderr=stderr, highlight=False)


def print_json(value: Any) -> None:
    """Print one object on a line of its own."""
    click.echo(json.dumps(value))


def write(text: str) -> None:
    """Write a piece of an answer at once; what the terminal cannot show is replaced."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "replace").decode(encoding))
    sys.stdout.flush()


@contextmanager
def waiting(words: str) -> Iterator[None]:
    """Show that something takes its time, where someone watches."""
    screen = console()
    if not screen.is_terminal:
        yield
        return
    with screen.status(words):
        yield


def table(title: str, rows: dict[str, Any]) -> Table:
    """Return rows of a name and a value."""
    result = Table(title=title, show_header=False, title_justify="left")
    result.add_column(style="dim")
    result.add_column(justify="right")
    for name, value in rows.items():
        result.add_row(name.replace("_", " "), shown(value))
    return result


def shown(value: Any) -> str:
    """Return a value as people read it."""
    if isinstance(value, list | tuple):
        return " ".join(map(shown, value)) or "-"
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) < 10 else f"{value:.1f}"
    return str(value)
