"""Someone who may open the sockets of an instance and does not speak its language."""

import random
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgpack
import zmq

from specpipe.process.meeting import find
from specpipe.words.messages import PROTOCOL
from tests.process.instances import Running

WITHIN_S = 20.0
_RANDOM = random.Random(11)


def header(tag: str, fields: dict[str, Any], protocol: int = PROTOCOL) -> bytes:
    """Return the first frame of a message, whatever is in it."""
    return bytes(msgpack.packb([protocol, tag, fields]))


def asking(**changes: Any) -> list[bytes]:
    """Return a request that is right but for the changes."""
    sampling = {"temperature": 0.0, "top_k": 0, "top_p": 1.0, "seed": 0}
    prompt = {"chat": [], "text": "a"}
    fields = {"key": 1, "mode": "target", "sampling": sampling, "seeded": False, "max_tokens": 5, "nodes": 0}
    fields |= {"check": "chain"}
    ends = {"ignore_eos": False, "stop": [], "stop_tokens": []}
    return [header("ask", prompt | fields | ends | changes), b""]


GARBAGE: dict[str, list[bytes]] = {
    "nothing": [b""],
    "random": [_RANDOM.randbytes(64)],
    "random frames": [_RANDOM.randbytes(20) for _ in range(5)],
    "a hundred frames": [b"x"] * 100,
    "long": [_RANDOM.randbytes(3 << 20)],
    "no array": [header("ask", {})],
    "wrong types": [header("cancel", {"key": "seven"})],
    "negative": [header("cancel", {"key": -1})],
    "huge number": [header("cancel", {"key": 2**63})],
    "huge key": [header("cancel", {"key": "k" * 1_000_000})],
    "unknown field": [header("look", {"at": 1})],
    "unknown version": [header("look", {}, PROTOCOL + 1)],
    "unknown message": [header("delve", {})],
    "huge budget": asking(max_tokens=10**9),
    "ten thousand stops": asking(stop=["x"] * 10_000),
    "a stop that is no token": asking(stop_tokens=[2**31]),
    "a seed beyond 64 bits": asking(sampling={"temperature": 0.0, "top_k": 0, "top_p": 1.0, "seed": -1}),
    "half an array": [header("edges", {"request": 1, "steps": 1, "step_s": 0.1}), *[b"123"] * 4],
    "unequal arrays": [header("edges", {"request": 1, "steps": 1, "step_s": 0.1}), b"", *[b"1234"] * 3],
    "no text": [b"\x93\x01\xa4look\x81\xa1a\xa2\xed\xa0"],
    "deep": [b"\x91" * 100_000],
    "lying about its size": [b"\xdd\xff\xff\xff\xff"],
}
NOISE = (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"\xff" * 64, b"\0", _RANDOM.randbytes(4096))


def addresses(instance: Running) -> dict[str, str]:
    """Return where the processes of an instance listen, by the names of the sockets."""
    folder = instance.supervisor.folder
    found = find(folder)
    data = {name: f"ipc://{next(folder.glob(f'{name}-*'))}" for name in ("edges", "verdicts")}
    return {"control": found.control, "clients": found.clients} | data


@contextmanager
def connected(address: str, kind: int, *, high_water: int = 1000) -> Iterator["zmq.Socket[bytes]"]:
    """Give a socket that is connected there and holds so many unread messages; what it sent is still delivered."""
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    try:
        stranger = context.socket(kind)
        stranger.setsockopt(zmq.LINGER, 2000)
        stranger.setsockopt(zmq.RCVHWM, high_water)
        stranger.setsockopt(zmq.RCVTIMEO, int(WITHIN_S * 1000))
        stranger.connect(address)
        yield stranger
    finally:
        context.destroy()


def make_noise(address: str, noise: bytes) -> None:
    """Send bytes that are no ZeroMQ, and hang up."""
    with socket.socket(socket.AF_UNIX) as stranger:
        stranger.connect(str(Path(address.removeprefix("ipc://"))))
        try:
            stranger.sendall(noise)
            stranger.settimeout(0.2)
            stranger.recv(64)
        except OSError:
            return


def comes_true(condition: Callable[[], bool]) -> bool:
    """Wait until something holds; tell whether it came to that."""
    deadline = time.monotonic() + WITHIN_S
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
