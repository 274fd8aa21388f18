"""How values and answers are shown."""

import io
import sys
from typing import Any

import pytest

from specpipe.cli.printing import shown, write


@pytest.mark.parametrize(
    ("value", "words"),
    [(0.12345, "0.123"), (24.64, "24.6"), (-3.0, "-3.000"), (7, "7"), ("cpu", "cpu"), ([3, 2, 1], "3 2 1"), ((), "-")],
)
def test_values_are_short(value: Any, words: str) -> None:
    """Three digits are as much as a measurement is worth."""
    assert shown(value) == words


def test_what_the_terminal_cannot_show_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer does not end in an error because of the locale."""
    terminal = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", terminal)

    write("caf\u00e9")

    assert terminal.buffer.getvalue() == b"caf?"
