"""Bad weather for links, repeatable by seed: what is sent may be lost, doubled, late or overtaken."""

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from math import inf
from random import Random
from typing import Generic, TypeVar

from specpipe.clock import now
from specpipe.links.seam import DataDialer, DataListener, Link
from specpipe.words.messages import Message

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Weather:
    """What befalls a message: `drop`, `repeat` and `reorder` are chances from 0 to 1, `delay` and `late` seconds.

    Every copy takes `delay`. A reordered one takes up to `late` more, so that those sent after it overtake it.
    """

    drop: float = 0.0
    repeat: float = 0.0
    reorder: float = 0.0
    delay: float = 0.0
    late: float = 0.05
    seed: int = 0

    def steady(self) -> "Weather":
        """Return the weather of a reliable and ordered link: only the delay is left."""
        return Weather(delay=self.delay, seed=self.seed)


class Storm(Generic[T]):
    """A queue whose items come out when, and as often as, the weather lets them; equal arrivals keep their order.

    `stream` tells apart the fates of queues that share one seed.
    """

    def __init__(self, weather: Weather, stream: str) -> None:
        self._weather = weather
        self._random = Random(f"{weather.seed}/{stream}")
        self._order = count()
        self._held: list[tuple[float, int, T]] = []

    def __len__(self) -> int:
        return len(self._held)

    def push(self, item: T, at: float) -> None:
        """Send an item into the weather at the moment `at`."""
        for arrival in self._arrivals(at):
            heapq.heappush(self._held, (arrival, next(self._order), item))

    def pop(self, at: float) -> list[T]:
        """Take out what has arrived by the moment `at`."""
        arrived = []
        while self._held and self._held[0][0] <= at:
            arrived.append(heapq.heappop(self._held)[2])
        return arrived

    def next_arrival(self) -> float:
        """Return the moment at which the next item arrives, infinity if none is on its way."""
        return self._held[0][0] if self._held else inf

    def _arrivals(self, at: float) -> list[float]:
        if self._random.random() < self._weather.drop:
            return []
        copies = 2 if self._random.random() < self._weather.repeat else 1
        return [at + self._weather.delay + self._lateness() for _ in range(copies)]

    def _lateness(self) -> float:
        if self._random.random() < self._weather.reorder:
            return self._random.uniform(0.0, self._weather.late)
        return 0.0


class StormyLink:
    """A link through bad weather: mistreats what is sent and what is received (see `links.seam.Link`).

    A message that the weather takes counts as sent. Those still on their way are lost when it closes.
    """

    def __init__(self, link: Link, weather: Weather, clock: Callable[[], float] = now) -> None:
        self._link = link
        self._clock = clock
        self._outward: Storm[Message] = Storm(weather, "outward")
        self._inward: Storm[Message] = Storm(weather, "inward")

    @property
    def dropped(self) -> int:
        """How many malformed messages the real link received and skipped."""
        return self._link.dropped

    def fileno(self) -> int:
        """Return the descriptor of the real link."""
        return self._link.fileno()

    def patience(self) -> float:
        """Return the seconds until a message comes through, as far as known."""
        self._advance()
        # What arrived is not through the weather yet, so it ends no one's patience.
        while (patience := self._link.patience()) <= 0.0:
            self._advance()
        due = min(self._inward.next_arrival(), self._outward.next_arrival())
        return max(0.0, min(due - self._clock(), patience))

    def send(self, message: Message) -> bool:
        """Send into the weather."""
        self._outward.push(message, self._clock())
        self._advance()
        return True

    def receive(self) -> list[Message]:
        """Return what has come through."""
        self._advance()
        return self._inward.pop(self._clock())

    def close(self) -> None:
        """Close the real link."""
        self._link.close()

    def _advance(self) -> None:
        at = self._clock()
        for message in self._outward.pop(at):
            self._link.send(message)
        for message in self._link.receive():
            self._inward.push(message, at)


class StormyListener(StormyLink):
    """The verifier's end of the data link through bad weather (see `links.seam.DataListener`)."""

    def __init__(self, link: DataListener, weather: Weather, clock: Callable[[], float] = now) -> None:
        super().__init__(link, weather, clock)
        self.edges_address = link.edges_address
        self.verdicts_address = link.verdicts_address


class StormyDialer(StormyLink):
    """The drafter's end of the data link through bad weather (see `links.seam.DataDialer`)."""

    def __init__(self, link: DataDialer, weather: Weather, clock: Callable[[], float] = now) -> None:
        super().__init__(link, weather, clock)
        self._dialer = link

    def connect(self, edges: str, verdicts: str) -> None:
        """Turn to this verifier; what is still in the weather may reach the new one."""
        self._dialer.connect(edges, verdicts)
