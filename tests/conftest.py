"""What holds for every test: a private runtime folder for the session, and nothing left behind by any test."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.leaks import Census, end_processes, left_since

_RUNTIME = pytest.StashKey[Path]()

# How long an example takes says nothing on a machine that is shared; pytest-timeout catches what hangs.
settings.register_profile("specpipe", settings.default, deadline=None)
settings.load_profile("specpipe")


def pytest_configure(config: pytest.Config) -> None:
    """Give the session a runtime folder of its own; its path is short, since sockets are made in it."""
    runtime = Path(tempfile.mkdtemp(prefix="sp", dir="/tmp"))
    config.stash[_RUNTIME] = runtime
    os.environ["XDG_RUNTIME_DIR"] = str(runtime)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the session's runtime folder."""
    shutil.rmtree(config.stash[_RUNTIME], ignore_errors=True)


@pytest.fixture
def runtime(pytestconfig: pytest.Config) -> Path:
    """Return the session's private `XDG_RUNTIME_DIR`."""
    return pytestconfig.stash[_RUNTIME]


@pytest.fixture(autouse=True)
def _leaves_nothing(runtime: Path) -> Iterator[None]:
    """Fail a test that leaves processes, threads, descriptors, run folders or shared memory behind."""
    before = Census.take(runtime)
    yield
    left = left_since(before, runtime)
    end_processes(before, runtime)
    if left:
        pytest.fail("left behind:\n  " + "\n  ".join(left), pytrace=False)
