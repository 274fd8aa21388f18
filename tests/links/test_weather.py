"""Weather loses, doubles, delays and reorders as it was told, by seed, and invents nothing."""

from collections import Counter
from itertools import pairwise
from math import inf, nextafter
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from specpipe.links.address import fresh_address
from specpipe.links.data import DataClient, DataServer
from specpipe.links.seam import DataDialer, DataListener, Link
from specpipe.links.sockets import Sockets
from specpipe.links.weather import Storm, StormyDialer, StormyLink, StormyListener, Weather
from specpipe.words.messages import Resync
from tests.links.places import edges, received, requests, soon, verdict

CHANCES = st.floats(0.0, 1.0)
WEATHERS = st.builds(
    Weather, CHANCES, CHANCES, CHANCES, delay=st.floats(0, 0.1), late=st.floats(0, 0.1), seed=st.integers(0, 99)
)


def through(weather: Weather, items: range, stream: str = "s") -> list[int]:
    """Return what comes out of a storm into which one item went each millisecond."""
    storm: Storm[int] = Storm(weather, stream)
    for item in items:
        storm.push(item, item * 0.001)
    return storm.pop(inf)


@given(WEATHERS)
def test_nothing_is_invented_and_nothing_comes_more_than_twice(weather: Weather) -> None:
    """What comes out went in."""
    counted = Counter(through(weather, range(50)))

    assert set(counted) <= set(range(50))
    assert max(counted.values(), default=0) <= 2


@given(WEATHERS)
def test_the_same_seed_gives_the_same_weather(weather: Weather) -> None:
    """A failing test can be run again."""
    assert through(weather, range(50)) == through(weather, range(50))


@given(WEATHERS, st.floats(0, 1))
def test_nothing_comes_before_its_time(weather: Weather, at: float) -> None:
    """The delay is a lower bound, the lateness an upper one, and the next arrival is known."""
    storm: Storm[int] = Storm(weather, "s")
    storm.push(1, at)

    first = storm.next_arrival()

    assert first == inf or at + weather.delay <= first <= at + weather.delay + weather.late
    assert storm.pop(nextafter(first, -inf)) == []
    assert storm.pop(first)[:1] == ([1] if first < inf else [])


@given(st.integers(0, 99))
def test_fine_weather_changes_nothing(seed: int) -> None:
    """Without chances everything comes once and in order."""
    assert through(Weather(seed=seed), range(50)) == list(range(50))


def test_chances_are_what_they_say() -> None:
    """Over many messages each misfortune strikes about as often as its chance."""
    lost = 10_000 - len(through(Weather(drop=0.3), range(10_000)))
    doubled = len(through(Weather(repeat=0.3), range(10_000))) - 10_000
    overtaken = through(Weather(reorder=0.5), range(10_000))

    assert 2_800 < lost < 3_200
    assert 2_800 < doubled < 3_200
    assert sorted(overtaken) == list(range(10_000))
    assert sum(one > other for one, other in pairwise(overtaken)) > 1_000


def test_two_streams_of_one_seed_differ() -> None:
    """Both directions of a link do not lose the same messages."""
    weather = Weather(drop=0.5)

    assert through(weather, range(100), "one") != through(weather, range(100), "other")


def test_steady_weather_keeps_only_the_delay() -> None:
    """Reliable links share the distance, not the accidents."""
    assert Weather(0.1, 0.2, 0.3, delay=0.4, seed=5).steady() == Weather(delay=0.4, seed=5)


def _ends(sockets: Sockets, folder: Path) -> tuple[DataServer, DataClient]:
    server = DataServer(sockets, fresh_address("ipc", folder, "e"), fresh_address("ipc", folder, "v"))
    client = DataClient(sockets)
    client.connect(server.edges_address, server.verdicts_address)
    soon(lambda: client.send(Resync(0, 0)))
    received(server, 1)
    return server, client


def test_a_stormy_link_mistreats_what_is_sent(sockets: Sockets, folder: Path) -> None:
    """Edges over real sockets are doubled, and arrive as whole messages."""
    server, client = _ends(sockets, folder)
    stormy: Link = StormyLink(client, Weather(repeat=1.0))
    assert stormy.send(edges(1))

    assert requests(received(server, 2)) == [1, 1]


def test_a_stormy_link_mistreats_what_is_received(sockets: Sockets, folder: Path) -> None:
    """Edges that arrived are lost before anyone sees them."""
    server, client = _ends(sockets, folder)
    stormy: DataListener = StormyListener(server, Weather(drop=1.0))
    client.send(edges(1))
    soon(lambda: server.patience() == 0.0, server)

    assert stormy.receive() == []
    assert server.receive() == []


def test_a_delayed_message_leaves_when_its_time_has_come(sockets: Sockets, folder: Path) -> None:
    """Asking for the patience, as every waiter does, sends what is due."""
    server, client = _ends(sockets, folder)
    clock = [10.0]
    stormy = StormyLink(client, Weather(delay=2.0), lambda: clock[0])
    stormy.send(edges(1))
    assert stormy.patience() == 2.0
    assert server.receive() == []
    clock[0] = 12.0

    assert stormy.patience() == inf
    assert requests(received(server, 1)) == [1]


def test_the_stormy_ends_can_be_joined_like_real_ones(sockets: Sockets, folder: Path) -> None:
    """Addresses are the real ones, and a stormy drafter can be turned to them."""
    server, client = _ends(sockets, folder)
    listener: DataListener = StormyListener(server, Weather())
    dialer: DataDialer = StormyDialer(client, Weather())
    dialer.connect(listener.edges_address, listener.verdicts_address)
    soon(lambda: listener.send(verdict(1)) and bool(dialer.receive()), dialer)
    soon(lambda: bool(dialer.send(edges(2)) and listener.receive()), listener)

    assert (listener.dropped, dialer.dropped) == (0, 0)
    dialer.close()
    listener.close()
