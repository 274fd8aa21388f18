"""What the tests of links send, and how they wait for it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import zmq

from specpipe.clock import now
from specpipe.links.seam import Hub, Link
from specpipe.links.wait import wait
from specpipe.words.messages import Delta, Edges, Message, Verdict

Place = Callable[[str], str]
PATIENCE_S = 10.0

# What F03 of the fault list sends to every internal endpoint.
GARBAGE: tuple[list[bytes], ...] = (
    [b""],
    [b"x"],
    [b"x"] * 100,
    [bytes(range(256))],
    [b"\x93\x01\xa5edges\x80", b"", b"", b"", b""],
    [b"\x93\x02\xa5close\x81\xa7request\x01"],
    [b"\x93\x01\xa5quack\x80"],
    [b"\x93\x01\xa5close\x81\xa7request\xff"],
    [b"\x91" * 100_000],
    [b"\xdd\xff\xff\xff\xff"],
)


def edges(request: int, count: int = 32) -> Edges:
    """Return `count` edges of a request."""
    return Edges(
        request,
        1,
        0.005,
        np.arange(count, dtype=np.uint64),
        np.arange(count, dtype=np.int32),
        np.zeros(count, np.float32),
        np.ones(count, np.float32),
    )


def verdict(request: int) -> Verdict:
    """Return the verdict of a pass that committed two tokens of a request."""
    return Verdict(
        request, 1, 0, 1, 1, 1, True, 1.0, 2.0, "", np.array([5, 6], np.int32), np.array([-0.1, -0.2], np.float32)
    )


def delta(key: int, length: int) -> Delta:
    """Return a piece of an answer with a text of `length` characters."""
    return Delta(key, "x" * length, np.zeros(0, np.int32), np.zeros(0, np.float32))


def received(link: Link, count: int) -> list[Message]:
    """Return at least `count` messages, as they come."""
    messages: list[Message] = []

    def enough() -> bool:
        messages.extend(link.receive())
        return len(messages) >= count

    soon(enough, link)
    return messages


def heard(hub: Hub, count: int) -> list[tuple[bytes, Message]]:
    """Return at least `count` messages with their senders, as they come."""
    messages: list[tuple[bytes, Message]] = []

    def enough() -> bool:
        messages.extend(hub.receive())
        return len(messages) >= count

    soon(enough, hub)
    return messages


def soon(happened: Callable[[], bool], *links: Link | Hub) -> None:
    """Wait until something has happened; fail when it does not."""
    end = now() + PATIENCE_S
    while not happened():
        assert now() < end, "it did not happen"
        wait(links, 0.01)


def taken(send: Callable[[int], bool], most: int = 2_000) -> int:
    """Return how many messages are taken until they are refused for good; fail beyond `most`."""
    count = refused = 0
    while refused < 20:
        if send(count):
            count, refused = count + 1, 0
            assert count <= most, "there is no bound"
        else:
            refused += 1
            wait([], 0.01)
    return count


@contextmanager
def stranger(kind: int) -> Iterator[zmq.Socket[bytes]]:
    """Yield a socket of someone who does not speak the protocol; what it sent leaves before it closes."""
    with zmq.Context() as context, context.socket(kind) as socket:
        socket.setsockopt(zmq.LINGER, round(PATIENCE_S * 1000))
        yield socket


def requests(messages: Sequence[Message]) -> list[int]:
    """Return the request of each message."""
    return [message.fields()["request"] for message in messages]
