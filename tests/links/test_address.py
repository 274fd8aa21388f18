"""Addresses are fresh, short enough, and wrong ones are refused with a sentence."""

from pathlib import Path

import pytest
import zmq

from specpipe.errors import PeerError, SettingsError
from specpipe.links.address import dial, fresh_address, listen
from specpipe.links.sockets import Sockets


def test_ipc_names_in_one_folder_differ(folder: Path) -> None:
    """A process that closes late cannot unlink the socket of the one that replaced it."""
    addresses = {fresh_address("ipc", folder, "edges") for _ in range(20)}

    assert len(addresses) == 20
    assert all(address.startswith(f"ipc://{folder}/edges-") for address in addresses)


def test_the_system_chooses_a_loopback_port(sockets: Sockets, folder: Path) -> None:
    """The real port is reported, and nobody outside the host can reach it."""
    socket = sockets.open(zmq.PULL, high_water=1, linger_ms=0)
    host, port = listen(socket, fresh_address("tcp", folder, "edges")).rsplit(":", 1)

    assert host == "tcp://127.0.0.1"
    assert int(port) > 0


def test_a_path_of_107_bytes_works_and_of_108_is_refused(sockets: Sockets, folder: Path) -> None:
    """The limit of the operating system is exact, and exceeding it is said before it is tried."""
    longest = f"{folder}/".ljust(107, "x")
    socket = sockets.open(zmq.PULL, high_water=1, linger_ms=0)

    assert listen(socket, f"ipc://{longest}") == f"ipc://{longest}"
    with pytest.raises(SettingsError, match="shorter path"):
        listen(socket, f"ipc://{longest}x")
    with pytest.raises(SettingsError, match="shorter path"):
        fresh_address("ipc", folder / ("x" * 100), "edges")


def test_a_path_is_measured_in_bytes(folder: Path) -> None:
    """Characters of several bytes count as such."""
    with pytest.raises(SettingsError, match="shorter path"):
        fresh_address("ipc", folder / ("\N{SNOWMAN}" * 30), "edges")


def test_a_port_in_use_is_said_in_a_sentence(sockets: Sockets) -> None:
    """Two instances that want one port: the second is told, at once."""
    first, second = (sockets.open(zmq.PULL, high_water=1, linger_ms=0) for _ in range(2))
    taken = listen(first, "tcp://127.0.0.1:*")
    with pytest.raises(SettingsError, match="choose another address"):
        listen(second, taken)


@pytest.mark.parametrize("address", ["", "ipc", "quack://x", "tcp://127.0.0.1:notaport"])
def test_no_address_is_refused(sockets: Sockets, address: str) -> None:
    """What ZeroMQ cannot parse becomes the error of an unreachable peer, or of a wrong setting."""
    socket = sockets.open(zmq.PUSH, high_water=1, linger_ms=0)
    with pytest.raises(PeerError):
        dial(socket, address)
    with pytest.raises(SettingsError):
        listen(socket, address)
