"""The data link carries edges and verdicts in one hop, drops rather than blocks, and survives either end."""

from pathlib import Path

import numpy as np
import pytest
import zmq

from specpipe.errors import PeerError
from specpipe.links.address import fresh_address
from specpipe.links.data import DataClient, DataServer
from specpipe.links.seam import Link
from specpipe.links.sockets import Sockets
from specpipe.links.wait import wait
from specpipe.words.messages import Edges, Message, Resync, Verdict
from tests.links.places import GARBAGE, Place, edges, received, requests, soon, stranger, taken, verdict


def pair(sockets: Sockets, place: Place, high_water: int = 512) -> tuple[DataServer, DataClient]:
    """Return both ends of a data link over which verdicts have begun to flow."""
    server = DataServer(sockets, place("e"), place("v"), high_water=high_water)
    client = DataClient(sockets, high_water=high_water)
    client.connect(server.edges_address, server.verdicts_address)
    join(server, client)
    return server, client


def join(server: DataServer, client: DataClient) -> None:
    """Wait until both directions carry messages, and take those that showed it."""
    soon(lambda: client.send(Resync(0, 0)))
    received(server, 1)
    soon(lambda: server.send(verdict(0)) and bool(client.receive()), client)
    # All that were sent before are ahead of this one.
    server.send(verdict(0xFFFF))
    soon(lambda: 0xFFFF in requests(client.receive()), client)


def test_edges_and_verdicts_arrive_whole(sockets: Sockets, place: Place) -> None:
    """Fields and arrays come out as they went in, in order."""
    server, client = pair(sockets, place)
    for request in range(1, 51):
        assert client.send(edges(request))
        assert server.send(verdict(request))
    arrived = received(server, 50)
    heard = received(client, 50)

    assert requests(arrived) == list(range(1, 51))
    assert requests(heard) == list(range(1, 51))
    assert isinstance(arrived[0], Edges)
    assert np.array_equal(arrived[0].parents, edges(1).parents)
    assert isinstance(heard[0], Verdict)
    assert heard[0].tokens.tolist() == [5, 6]


def test_an_unconnected_client_drops_and_can_be_waited_on(sockets: Sockets) -> None:
    """The drafter may run before it has a peer."""
    client = DataClient(sockets)
    wait([client], 0.001)

    assert client.send(edges(1)) is False
    assert client.receive() == []


def test_edges_to_an_absent_verifier_are_dropped(sockets: Sockets, folder: Path) -> None:
    """Nothing queues for a peer that may never come."""
    client = DataClient(sockets)
    client.connect(fresh_address("ipc", folder, "e"), fresh_address("ipc", folder, "v"))

    assert not any(client.send(edges(request)) for request in range(100))


def test_no_address_is_refused(sockets: Sockets) -> None:
    """What cannot be an address of a verifier is the error of an unreachable peer."""
    with pytest.raises(PeerError):
        DataClient(sockets).connect("", "")


def test_a_verifier_that_does_not_read_costs_edges_only(sockets: Sockets, place: Place) -> None:
    """Beyond the high-water mark edges are dropped; the older ones arrive when it reads again."""
    server, client = pair(sockets, place, high_water=20)
    kept = taken(lambda request: client.send(edges(request, 1000)))

    assert kept >= 20
    assert requests(received(server, kept)) == list(range(kept))
    soon(lambda: client.send(edges(1)))


def test_a_drafter_that_does_not_read_stops_nobody(sockets: Sockets, place: Place) -> None:
    """It loses verdicts beyond the high-water mark, and another listener loses none that it reads in time."""
    server, stalled = pair(sockets, place, high_water=20)
    lively = DataClient(sockets, high_water=20)
    lively.connect(server.edges_address, server.verdicts_address)
    soon(lambda: server.send(verdict(0)) and bool(lively.receive()), lively)
    total = 20_000
    for request in range(total):
        assert server.send(verdict(request))
        lively.receive()
    late = requests(_all(stalled))

    assert 0 < len(late) < total
    assert late == sorted(late)
    soon(lambda: server.send(verdict(total)) and total in requests(lively.receive()), lively)


def _all(link: Link) -> list[Message]:
    """Return what comes until nothing has come for a while."""
    messages = received(link, 1)
    wait([link], 0.2)
    while more := link.receive():
        messages += more
        wait([link], 0.2)
    return messages


def test_garbage_at_the_verifier_is_counted_and_service_goes_on(sockets: Sockets, place: Place) -> None:
    """No frame of a stranger on either socket ends the verifier or disturbs the drafter."""
    server, client = pair(sockets, place)
    with stranger(zmq.PUSH) as pushing, stranger(zmq.XSUB) as subscribing:
        pushing.connect(server.edges_address)
        subscribing.connect(server.verdicts_address)
        for frames in GARBAGE:
            pushing.send_multipart(frames)
            subscribing.send_multipart(frames)
        assert client.send(edges(3))
        messages = received(server, 1)
        soon(lambda: server.receive() == [] and server.dropped == len(GARBAGE), server)
    server.send(verdict(4))

    assert requests(messages) == [3]
    assert requests(received(client, 1)) == [4]


def test_garbage_at_the_drafter_is_counted_over_all_its_peers(sockets: Sockets, place: Place) -> None:
    """What one verifier sent wrongly stays counted when the drafter turns to the next."""
    client = DataClient(sockets)
    with stranger(zmq.PUB) as socket:
        socket.bind("tcp://127.0.0.1:*")
        client.connect("tcp://127.0.0.1:9", socket.getsockopt_string(zmq.LAST_ENDPOINT))
        soon(lambda: socket.send(b"x") is None and bool(client.receive() or client.dropped), client)
        dropped = client.dropped
        for frames in GARBAGE:
            socket.send_multipart(frames)
        soon(lambda: client.receive() == [] and client.dropped >= dropped + len(GARBAGE), client)
    dropped = client.dropped
    server = DataServer(sockets, place("e"), place("v"))
    client.connect(server.edges_address, server.verdicts_address)
    join(server, client)

    assert client.dropped == dropped


def test_a_restarted_verifier_hears_nothing_of_the_old_queue(sockets: Sockets, place: Place) -> None:
    """Turned to a new verifier in the same run folder, the drafter starts with empty queues; the old are lost."""
    old, client = pair(sockets, place, high_water=20)
    count = taken(lambda _: client.send(edges(666, 1000)))
    new = DataServer(sockets, place("e"), place("v"))
    client.connect(new.edges_address, new.verdicts_address)
    join(new, client)
    assert client.send(edges(7))
    late = _all(old)
    old.close()
    soon(lambda: client.send(edges(8)))

    assert requests(received(new, 2)) == [7, 8]
    assert 0 < len(late) < count


def test_a_verifier_that_closes_late_takes_nothing_from_its_successor(sockets: Sockets, folder: Path) -> None:
    """The old process's socket files are not the new one's."""
    old = DataServer(sockets, fresh_address("ipc", folder, "e"), fresh_address("ipc", folder, "v"))
    new = DataServer(sockets, fresh_address("ipc", folder, "e"), fresh_address("ipc", folder, "v"))
    old.close()
    client = DataClient(sockets)
    client.connect(new.edges_address, new.verdicts_address)
    soon(lambda: client.send(edges(9)))

    assert requests(received(new, 1)) == [9]


def test_a_socket_file_that_a_killed_verifier_left_is_no_obstacle(sockets: Sockets, folder: Path) -> None:
    """Listening on the very same path again works after a crash."""
    address = fresh_address("ipc", folder, "e")
    Path(address.removeprefix("ipc://")).touch()
    server = DataServer(sockets, address, fresh_address("ipc", folder, "v"))
    client = DataClient(sockets)
    client.connect(server.edges_address, server.verdicts_address)
    soon(lambda: client.send(edges(10)))

    assert requests(received(server, 1)) == [10]
