"""The in-memory links behave like the real ones, on a clock that the test holds."""

from dataclasses import dataclass
from math import inf

import pytest

from specpipe.errors import FrameError
from specpipe.links.memory import CAPACITY, MemoryNetwork
from specpipe.links.seam import DataDialer, DataListener, Hub, Link
from specpipe.links.wait import wait
from specpipe.links.weather import Weather
from specpipe.words.messages import Close, Delta, Edges, Stop
from tests.links.places import delta, edges, requests, verdict


@dataclass
class Clock:
    """A clock that only the test moves."""

    at: float = 0.0

    def __call__(self) -> float:
        """Return the moment."""
        return self.at


def network(clock: Clock | None = None, **weather: float) -> MemoryNetwork:
    """Return a network in this weather."""
    return MemoryNetwork(Weather(**weather), clock or Clock())  # type: ignore[arg-type]


def test_control_goes_both_ways() -> None:
    """A hub answers each line under the name that its messages came with."""
    net = network()
    hub: Hub = net.hub([Close])
    lines: list[Link] = [net.line(hub.address, [Close]) for _ in range(2)]
    for number, line in enumerate(lines):
        assert line.send(Close(number))
    for peer, message in hub.receive():
        assert hub.send(peer, message)

    assert [requests(line.receive()) for line in lines] == [[0], [1]]


def test_a_control_link_only_suffers_the_delay() -> None:
    """Whatever befalls the data link, control messages come once, in order, and on time."""
    clock = Clock()
    net = network(clock, drop=1.0, repeat=1.0, reorder=1.0, delay=0.5)
    hub = net.hub([Close])
    line = net.line(hub.address, [Close])
    for request in range(20):
        line.send(Close(request))

    assert hub.receive() == []
    assert (hub.patience(), net.next_arrival()) == (0.5, 0.5)
    clock.at = 0.5
    assert (hub.patience(), requests([message for _, message in hub.receive()])) == (0.0, list(range(20)))
    assert (hub.patience(), net.next_arrival()) == (inf, inf)


def test_the_data_link_carries_both_ways() -> None:
    """Messages pass through the codec: what comes out is another object with the same contents."""
    net = network()
    server: DataListener = net.server()
    client: DataDialer = net.client()
    client.connect(server.edges_address, server.verdicts_address)
    sent = edges(1)
    assert client.send(sent)
    assert server.send(verdict(2))
    [arrived] = server.receive()

    assert isinstance(arrived, Edges)
    assert arrived is not sent
    assert arrived.parents.tolist() == sent.parents.tolist()
    assert requests(client.receive()) == [2]


@pytest.mark.parametrize(
    ("weather", "arrived"), [({"drop": 1.0}, 0), ({"repeat": 1.0}, 200), ({"reorder": 1.0, "late": 9.0}, 100)]
)
def test_the_data_link_suffers_the_weather(weather: dict[str, float], arrived: int) -> None:
    """Edges and verdicts alike are lost, doubled or late."""
    clock = Clock()
    net = network(clock, **weather)
    server, client = net.server(), net.client()
    client.connect(server.edges_address, server.verdicts_address)
    for request in range(100):
        client.send(edges(request))
        server.send(verdict(request))
    clock.at = 10.0

    there, back = requests(server.receive()), requests(client.receive())
    assert (len(there), len(back)) == (arrived, arrived)
    assert ("reorder" in weather) == (there != sorted(there))


def test_a_peer_that_left_is_unreachable() -> None:
    """In memory as on sockets, sending to nobody is False."""
    net = network()
    hub = net.hub([Close])
    line = net.line(hub.address, [Stop])
    line.send(Close(1))
    [(peer, _)] = hub.receive()
    assert hub.send(peer, Stop())
    line.close()
    line.close()

    assert not hub.send(peer, Stop())
    assert not hub.send(b"\xff", Stop())


def test_a_peer_that_does_not_read_is_bounded() -> None:
    """Every mailbox has a capacity."""
    net = network()
    hub = net.hub([Close])
    line = net.line(hub.address, [Close])

    assert [line.send(Close(0)) for _ in range(CAPACITY + 1)] == [True] * CAPACITY + [False]


def test_a_message_for_someone_else_is_counted() -> None:
    """Ends understand their own kinds only."""
    net = network()
    hub = net.hub([Close])
    line = net.line(hub.address, [Close])
    line.send(Stop())

    assert hub.receive() == []
    assert hub.dropped == 1


def test_what_no_receiver_would_take_is_refused() -> None:
    """The bounds of the wire hold in memory too."""
    net = network()
    with pytest.raises(FrameError, match="too long"):
        net.line(net.hub([Delta]).address, []).send(delta(1, (8 << 20) + 1))


def test_a_client_turned_to_a_new_server_starts_empty() -> None:
    """What was on its way from the old verifier is discarded, and edges reach the new one."""
    net = network()
    old, new, client = net.server(), net.server(), net.client()
    assert not client.send(edges(0))
    client.connect(old.edges_address, old.verdicts_address)
    old.send(verdict(1))
    client.connect(new.edges_address, new.verdicts_address)
    old.send(verdict(2))
    new.send(verdict(3))
    client.send(edges(4))

    assert requests(client.receive()) == [3]
    assert (old.receive(), requests(new.receive())) == ([], [4])
    new.close()
    assert not client.send(edges(5))


def test_memory_links_can_be_waited_on() -> None:
    """On a clock that runs by itself nothing but time is needed."""
    net = network()
    hub = net.hub([Close])
    net.line(hub.address, [Close]).send(Close(1))
    wait([hub], None)

    assert len(hub.receive()) == 1
