"""A process's sockets close without hanging and leave nothing behind."""

from pathlib import Path

import pytest

from specpipe.links.address import fresh_address
from specpipe.links.control import ControlHub, ControlLine
from specpipe.links.data import DataClient, DataServer
from specpipe.links.sockets import Sockets
from specpipe.words.messages import Close, Edges
from tests.links.places import Place, edges, received, soon

_HELD = (Path("/proc/self/fd"), Path("/proc/self/task"))


def _held() -> list[int]:
    return [len(list(folder.iterdir())) for folder in _HELD]


@pytest.mark.timeout(30)
def test_a_process_of_links_leaves_no_descriptor_or_thread(place: Place) -> None:
    """After all was used and closed, in any order, the process holds what it held before."""
    before = _held()
    with Sockets() as sockets:
        hub = ControlHub(sockets, place("c"), [Close])
        line = ControlLine(sockets, hub.address, [Close])
        server = DataServer(sockets, place("e"), place("v"))
        client = DataClient(sockets)
        client.connect(server.edges_address, server.verdicts_address)
        soon(lambda: client.send(edges(1)))
        assert isinstance(received(server, 1)[0], Edges)
        line.send(Close(1))
        hub.close()
        hub.close()
        client.close()
    sockets.close()

    soon(lambda: _held() == before)


@pytest.mark.timeout(30)
def test_closing_never_hangs_on_unsent_messages(folder: Path) -> None:
    """Messages to a peer that never came, or never comes back, do not keep the process from ending."""
    with Sockets() as sockets:
        line = ControlLine(sockets, fresh_address("ipc", folder, "nobody"), [Close])
        client = DataClient(sockets)
        client.connect(fresh_address("ipc", folder, "nobody"), "tcp://127.0.0.1:9")

        assert all(line.send(Close(request)) for request in range(100))
        assert not client.send(edges(1))
