"""Where sockets listen: a fresh name in the run folder, or a port of the loopback that the system chooses."""

import os
import secrets
from pathlib import Path
from typing import Literal

import zmq

from specpipe.errors import PeerError, SettingsError

_LONGEST_PATH = 107


def fresh_address(transport: Literal["ipc", "tcp"], folder: Path, name: str) -> str:
    """Return an address to listen on; raise `SettingsError` if the folder's path is too long for a socket.

    Every ipc name is new, because a process that closes its socket late would unlink its successor's file.
    """
    if transport == "tcp":
        return "tcp://127.0.0.1:*"
    return _short_enough(f"ipc://{folder}/{name}-{secrets.token_hex(3)}")


def listen(socket: zmq.Socket[bytes], address: str) -> str:
    """Bind the socket and return its real address; raise `SettingsError` if that cannot be."""
    try:
        socket.bind(_short_enough(address))
    except zmq.ZMQError as error:
        raise SettingsError(f"cannot listen on {address}: {error.strerror}; choose another address") from error
    return socket.getsockopt(zmq.LAST_ENDPOINT).rstrip(b"\0").decode()  # type: ignore[union-attr]


def dial(socket: zmq.Socket[bytes], address: str) -> None:
    """Connect the socket; raise `PeerError` if the address is none."""
    try:
        socket.connect(address)
    except zmq.ZMQError as error:
        raise PeerError(f"cannot connect to {address!r}: {error.strerror}; start the instance again") from error


def _short_enough(address: str) -> str:
    length = len(os.fsencode(address.removeprefix("ipc://")))
    if address.startswith("ipc://") and length > _LONGEST_PATH:
        raise SettingsError(
            f"{address} has {length} bytes where a socket may have {_LONGEST_PATH}; "
            "set XDG_RUNTIME_DIR to a folder with a shorter path"
        )
    return address
