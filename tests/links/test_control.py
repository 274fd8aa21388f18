"""The control link is reliable, ordered, bounded, and deaf to garbage."""

import socket as plain
from contextlib import closing

import pytest
import zmq

from specpipe.errors import FrameError
from specpipe.links.control import ControlHub, ControlLine
from specpipe.links.sockets import Sockets
from specpipe.links.wait import wait
from specpipe.words.messages import Close, Delta, Stop
from specpipe.words.messages.codec import MAX_HEADER
from tests.links.places import GARBAGE, PATIENCE_S, Place, delta, heard, received, requests, soon, stranger, taken


def test_messages_go_both_ways_in_order(sockets: Sockets, place: Place) -> None:
    """A hub answers each line under the name that its messages came with."""
    hub = ControlHub(sockets, place("c"), [Close])
    lines = [ControlLine(sockets, hub.address, [Close]) for _ in range(2)]
    for request in range(100):
        assert all(line.send(Close(request)) for line in lines)
    for peer, message in heard(hub, 200):
        assert hub.send(peer, message)

    assert [requests(received(line, 100)) for line in lines] == [list(range(100))] * 2
    assert (hub.dropped, [line.dropped for line in lines]) == (0, [0, 0])


def test_nothing_to_receive_is_an_empty_list(sockets: Sockets, place: Place) -> None:
    """Receiving never blocks."""
    hub = ControlHub(sockets, place("c"), [Close])

    assert hub.receive() == []
    assert ControlLine(sockets, hub.address, [Close]).receive() == []


def test_what_is_sent_before_the_hub_listens_arrives(sockets: Sockets, place: Place) -> None:
    """Workers and coordinator may start in any order."""
    with plain.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        free = f"tcp://127.0.0.1:{probe.getsockname()[1]}"
    address = place("c")
    address = free if address.endswith("*") else address
    line = ControlLine(sockets, address, [Close])
    line.send(Close(7))
    hub = ControlHub(sockets, address, [Close])

    assert requests([message for _, message in heard(hub, 1)]) == [7]


def test_a_peer_that_never_was_is_unreachable(sockets: Sockets, place: Place) -> None:
    """Sending to nobody is False, never silence."""
    hub = ControlHub(sockets, place("c"), [Close])

    assert hub.send(b"nobody", Stop()) is False
    assert hub.send(b"", Stop()) is False


def test_a_peer_that_left_is_unreachable(sockets: Sockets, place: Place) -> None:
    """After a worker's end the hub's messages to it are refused."""
    hub = ControlHub(sockets, place("c"), [Close])
    line = ControlLine(sockets, hub.address, [Stop])
    line.send(Close(1))
    [(peer, _)] = heard(hub, 1)
    assert hub.send(peer, Stop())
    line.close()

    soon(lambda: not hub.send(peer, Stop()))


def test_a_peer_that_does_not_read_is_bounded_and_alone(sockets: Sockets, place: Place) -> None:
    """At its high-water mark a peer is refused, while the others are served as before."""
    hub = ControlHub(sockets, place("c"), [Close], high_water=50)
    stalled, lively = (ControlLine(sockets, hub.address, [Delta], high_water=50) for _ in range(2))
    stalled.send(Close(1))
    lively.send(Close(2))
    peers = {requests([message])[0]: peer for peer, message in heard(hub, 2)}

    assert taken(lambda key: hub.send(peers[1], delta(key, 10_000))) >= 50
    assert hub.send(peers[2], delta(1, 10))
    assert len(received(lively, 1)) == 1
    soon(lambda: stalled.receive() is not None and hub.send(peers[1], delta(1, 10)))


def test_a_hub_that_does_not_read_is_bounded(sockets: Sockets, place: Place) -> None:
    """A line to a stalled coordinator refuses rather than grows or blocks, and goes on when it reads again."""
    hub = ControlHub(sockets, place("c"), [Delta], high_water=50)
    line = ControlLine(sockets, hub.address, [Close], high_water=50)
    count = taken(lambda key: line.send(delta(key, 10_000)))

    assert count >= 50
    assert [message.fields()["key"] for _, message in heard(hub, count)] == list(range(count))
    soon(lambda: line.send(delta(1, 10)))


def test_garbage_at_the_hub_is_counted_and_service_goes_on(sockets: Sockets, place: Place) -> None:
    """No frame of a stranger ends the coordinator or disturbs another peer."""
    hub = ControlHub(sockets, place("c"), [Close])
    line = ControlLine(sockets, hub.address, [Close])
    with stranger(zmq.DEALER) as socket:
        socket.connect(hub.address)
        for frames in GARBAGE:
            socket.send_multipart(frames)
        line.send(Close(3))
        messages = heard(hub, 1)
        soon(lambda: hub.receive() == [] and hub.dropped == len(GARBAGE), hub)

    assert [message.fields() for _, message in messages] == [{"request": 3}]


def test_garbage_on_a_line_is_counted_and_service_goes_on(sockets: Sockets) -> None:
    """A worker survives whatever its hub sends."""
    with stranger(zmq.ROUTER) as socket:
        socket.bind("tcp://127.0.0.1:*")
        line = ControlLine(sockets, socket.getsockopt_string(zmq.LAST_ENDPOINT), [Close])
        line.send(Close(1))
        peer, *_ = socket.recv_multipart()
        for frames in (*GARBAGE, [b"\x93\x01\xa5close\x81\xa7request\x09"]):
            socket.send_multipart([peer, *frames])

        assert requests(received(line, 1)) == [9]
        assert line.dropped == len(GARBAGE)
        line.close()


@pytest.mark.parametrize("noise", [b"\0" * 64, b"GET / HTTP/1.1\r\n\r\n", b"\xff" * 4096, bytes(range(256)) * 50])
def test_bytes_that_are_no_zeromq_disturb_nobody(sockets: Sockets, place: Place, noise: bytes) -> None:
    """A port scanner or a browser at the address changes nothing."""
    hub = ControlHub(sockets, place("c"), [Close])
    with closing(_plainly_connected(hub.address)) as raw:
        raw.sendall(noise)
        line = ControlLine(sockets, hub.address, [Close])
        line.send(Close(4))

        assert requests([message for _, message in heard(hub, 1)]) == [4]


def test_a_message_beyond_the_bounds_is_cut_off(sockets: Sockets, place: Place) -> None:
    """A frame that is too long never reaches the decoder, and its sender is the only one who notices."""
    hub = ControlHub(sockets, place("c"), [Close])
    with stranger(zmq.DEALER) as socket:
        socket.setsockopt(zmq.LINGER, 0)
        monitor = socket.get_monitor_socket(zmq.EVENT_DISCONNECTED)
        socket.connect(hub.address)
        socket.send(bytes(MAX_HEADER + 1))
        assert monitor.poll(round(PATIENCE_S * 1000))
        monitor.close()
        socket.disable_monitor()
        line = ControlLine(sockets, hub.address, [Close])
        line.send(Close(5))

        assert requests([message for _, message in heard(hub, 1)]) == [5]
    assert hub.dropped == 0


def test_a_message_that_nobody_would_take_is_refused_to_its_sender(sockets: Sockets, place: Place) -> None:
    """Nothing leaves, and the line still works."""
    hub = ControlHub(sockets, place("c"), [Close])
    line = ControlLine(sockets, hub.address, [Close])
    with pytest.raises(FrameError, match="too long"):
        line.send(delta(1, MAX_HEADER + 1))
    line.send(Close(6))

    assert requests([message for _, message in heard(hub, 1)]) == [6]


def test_the_last_word_leaves_after_closing(sockets: Sockets, place: Place) -> None:
    """A worker that reports its fault and ends at once is heard."""
    hub = ControlHub(sockets, place("c"), [Close])
    with Sockets() as dying:
        line = ControlLine(dying, hub.address, [Close])
        line.send(Close(8))
        line.close()

    assert requests([message for _, message in heard(hub, 1)]) == [8]


def test_one_call_takes_no_more_than_the_high_water_mark(sockets: Sockets, place: Place) -> None:
    """A flood is read in portions, so that the reader can do other things in between."""
    hub = ControlHub(sockets, place("c"), [Close], high_water=10)
    lines = [ControlLine(sockets, hub.address, [Close], high_water=10) for _ in range(3)]
    for request in range(10):
        assert all(line.send(Close(request)) for line in lines)
    portions: list[int] = []
    while sum(portions) < 30:
        wait([hub], None)
        portions.append(len(hub.receive()))

    assert max(portions) <= 10


def _plainly_connected(address: str) -> plain.socket:
    if address.startswith("ipc://"):
        raw = plain.socket(plain.AF_UNIX)
        raw.connect(address.removeprefix("ipc://"))
        return raw
    host, port = address.removeprefix("tcp://").rsplit(":", 1)
    return plain.create_connection((host, int(port)))
