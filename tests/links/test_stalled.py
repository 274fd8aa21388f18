"""A peer process that is stopped in the middle of everything: memory stays bounded, and all goes on afterwards."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import psutil

from specpipe.links.control import ControlHub
from specpipe.links.data import DataServer
from specpipe.links.sockets import Sockets
from specpipe.words.messages import Close, Verdict
from tests.links.places import Place, delta, heard, requests, soon, verdict

_MOST_GROWTH = 64 << 20
_DRAFTER = """
import sys
from specpipe.links.control import ControlLine
from specpipe.links.data import DataClient
from specpipe.links.sockets import Sockets
from specpipe.links.wait import wait
from specpipe.words.messages import Close, Delta, Resync, Verdict

with Sockets() as sockets:
    line = ControlLine(sockets, sys.argv[1], [Delta, Close])
    data = DataClient(sockets, [Verdict])
    data.connect(*sys.argv[2:])
    line.send(Close(0))
    while True:
        wait([line, data], 5)
        for message in line.receive():
            if isinstance(message, Close):
                line.send(message)
        for message in data.receive():
            if message.start == 1:
                data.send(Resync(message.request, 0))
"""


@contextmanager
def drafter(*addresses: str) -> Iterator[psutil.Process]:
    """Yield a process that answers `Close` on the control link, and verdicts from 1 on the data link."""
    with subprocess.Popen([sys.executable, "-c", _DRAFTER, *addresses]) as process:
        try:
            yield psutil.Process(process.pid)
        finally:
            process.kill()


def _asking(request: int) -> Verdict:
    message = verdict(request)
    return Verdict(**message.fields() | {"start": 1})


def test_a_stopped_peer_costs_bounded_memory_and_is_served_again(sockets: Sockets, place: Place) -> None:
    """Both links refuse or drop while it is stopped, and work when it goes on."""
    hub = ControlHub(sockets, place("c"), [Close])
    server = DataServer(sockets, place("e"), place("v"))
    with drafter(hub.address, server.edges_address, server.verdicts_address) as process:
        [(peer, _)] = heard(hub, 1)
        soon(lambda: server.send(_asking(1)) and bool(server.receive()), server)
        process.send_signal(signal.SIGSTOP)
        before = psutil.Process().memory_info().rss
        taken = sum(hub.send(peer, delta(number, 2_000)) for number in range(30_000))
        published = sum(server.send(verdict(number)) for number in range(30_000))
        grown = psutil.Process().memory_info().rss - before
        process.send_signal(signal.SIGCONT)

        assert taken < 30_000
        assert published == 30_000
        assert grown < _MOST_GROWTH
        soon(lambda: hub.send(peer, Close(7)), hub)
        assert requests([message for _, message in heard(hub, 1)]) == [7]
        soon(lambda: server.send(_asking(9)) and 9 in requests(server.receive()), server)


def test_a_killed_peer_is_unreachable_and_its_successor_is_served(sockets: Sockets, place: Place) -> None:
    """After kill -9 the hub refuses, and a new process on the same addresses finds both links as they were."""
    hub = ControlHub(sockets, place("c"), [Close])
    server = DataServer(sockets, place("e"), place("v"))
    addresses = (hub.address, server.edges_address, server.verdicts_address)
    with drafter(*addresses) as process:
        [(peer, _)] = heard(hub, 1)
        process.kill()
        soon(lambda: not hub.send(peer, Close(1)))
    with drafter(*addresses):
        [(successor, _)] = heard(hub, 1)
        assert successor != peer
        assert hub.send(successor, Close(2))
        assert requests([message for _, message in heard(hub, 1)]) == [2]
        soon(lambda: server.send(_asking(3)) and 3 in requests(server.receive()), server)
