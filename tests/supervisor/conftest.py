"""Where stand-in roles note what happened to them."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the folder of this test's notes, and tell it to the processes that the test starts."""
    monkeypatch.setenv("STAND_IN_NOTES", str(tmp_path))
    return tmp_path
