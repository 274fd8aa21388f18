"""What commands leave behind in the test's own process is undone; stand-in roles note what happened to them."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _log_as_before() -> Iterator[None]:
    """Give the root of our loggers back as it was."""
    root = logging.getLogger("specpipe")
    before = list(root.handlers), root.level, root.propagate
    yield
    root.handlers[:], root.propagate = before[0], before[2]
    root.setLevel(before[1])


@pytest.fixture(autouse=True)
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the folder of this test's notes, and tell it to the processes that the test starts."""
    monkeypatch.setenv("STAND_IN_NOTES", str(tmp_path))
    return tmp_path
