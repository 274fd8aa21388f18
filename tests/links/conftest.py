"""Sockets of this process that are closed after each test, and a run folder on each transport."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from specpipe.links.address import fresh_address
from specpipe.links.folder import RunFolder
from specpipe.links.sockets import Sockets
from tests.links.places import Place


@pytest.fixture
def sockets() -> Iterator[Sockets]:
    """Return a context whose sockets are closed after the test."""
    with Sockets() as sockets:
        yield sockets


@pytest.fixture
def folder() -> Iterator[Path]:
    """Return the path of a run folder that is removed after the test."""
    with RunFolder.create() as folder:
        yield folder.path


@pytest.fixture(params=["ipc", "tcp"])
def place(request: pytest.FixtureRequest, folder: Path) -> Place:
    """Return a maker of fresh addresses, on each transport in turn."""
    return lambda name: fresh_address(request.param, folder, name)
