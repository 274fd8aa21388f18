"""A discrete-event world of one drafter and one verifier, for the planted language of `words.planted`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from math import log

import numpy as np

from specpipe.minds import drafting, verifying
from specpipe.minds.costs import PassCosts
from specpipe.minds.drafting import Drafting, News
from specpipe.minds.stepping import Step
from specpipe.minds.verifying import Verifying
from specpipe.minds.work import Pass, Work
from specpipe.words import planted
from specpipe.words.messages import Message, Open, Resync, Verdict
from specpipe.words.proposals import Proposals


def calm(_: Message) -> Sequence[float]:
    """Deliver every message once, after a third of a millisecond."""
    return (0.0003,)


@dataclass(frozen=True, slots=True)
class Devices:
    """Planted chances and durations in seconds: a drafter step, a verifier pass, each further row of it, and a chunk
    of a prompt.
    """

    w: Sequence[float]
    step: float = 0.005
    passing: float = 0.1
    row: float = 0.0
    chunk: float = 0.0

    def seconds(self, work: Work) -> float:
        """Return how long the verifier takes over some work."""
        if not isinstance(work, Pass):
            return self.chunk
        return self.passing + self.row * (len(work.batch) - len(work.parts))


@dataclass
class World:
    """Runs requests to their end. `weather` gives the delays after which a data message arrives: none is loss."""

    devices: Devices
    drafter: Drafting
    verifier: Verifying
    weather: Callable[[Message], Sequence[float]] = calm
    now: float = 0.0
    verdicts: list[Verdict] = field(default_factory=list)
    busy: float = 0.0
    _events: list[tuple[float, int, Callable[[], None]]] = field(default_factory=list)
    _order: "count[int]" = field(default_factory=count)
    _drafting: bool = False
    _passing: bool = False

    @classmethod
    def of(
        cls,
        devices: Devices,
        *,
        lanes: int = 8,
        requests: int = 1,
        prefill_rows: int = 1 << 16,
        weather: Callable[[Message], Sequence[float]] = calm,
    ) -> "World":
        """Return a world with ample room."""
        costs = PassCosts({1: devices.passing, 65: devices.passing + 64 * devices.row})
        return cls(
            devices,
            Drafting(drafting.Shape(lanes, requests, 8192, 1 << 16, 1 << 16)),
            Verifying(verifying.Shape(requests, 1 << 16, prefill_rows), costs),
            weather,
        )

    def run(self, *requests: Open, until: float = 1e9) -> float:
        """Open `requests`, run until nothing happens any more, and return the time."""
        for request in requests:
            self._open(request)
        self._stir()
        while self._events and self.now < until:
            self.now, _, event = heappop(self._events)
            event()
            self._stir()
        return self.now

    def open_at(self, when: float, request: Open) -> None:
        """Have a request opened at a moment of the run that follows."""
        self._at(when, lambda: self._open(request))

    def _open(self, request: Open) -> None:
        self.drafter.handle(request)
        self.verifier.handle(request, self.now)

    def _at(self, when: float, event: Callable[[], None]) -> None:
        heappush(self._events, (when, next(self._order), event))

    def _stir(self) -> None:
        """Start whatever an idle side has to do."""
        if not self._drafting and (step := self.drafter.plan()):
            self._drafting = True
            self._at(self.now + self.devices.step, lambda: self._stepped(step))
        if not self._passing:
            work = self.verifier.plan(self.now)
            if work is not None:
                self._passing, began = True, self.now
                self._at(self.now + self.devices.seconds(work), lambda: self._passed(work, began))
            elif (wake := self.verifier.wake()) is not None:
                self._at(max(wake, self.now), lambda: None)

    def _stepped(self, step: Step) -> None:
        self._drafting = False
        self.busy += self.devices.step
        for edges in self.drafter.settle(step, self._proposals(step), self.devices.step):
            self._send(edges, self._learn)

    def _passed(self, work: Work, began: float) -> None:
        self._passing = False
        if not isinstance(work, Pass):
            self.verifier.settle_prefill(work)
            return
        tokens = [planted.truth(prefix, self.devices.w) for prefix in work.batch.prefixes.tolist()]
        for verdict in self.verifier.settle(work, tokens, [0.0] * len(tokens), began, self.now):
            self.verdicts.append(verdict)
            self._send(verdict, self._follow)

    def _follow(self, message: Message) -> None:
        for answer in self.drafter.handle(message):
            self._send(answer, self._learn)

    def _learn(self, message: Message) -> None:
        for verdict in self.verifier.handle(message, self.now):
            self._send(verdict, self._follow)

    def _send(self, message: News | Verdict | Resync, arrive: Callable[[Message], None]) -> None:
        for delay in self.weather(message):
            self._at(self.now + delay, lambda: arrive(message))

    def _proposals(self, step: Step) -> Proposals:
        fan = len(self.devices.w)
        log_w = [log(max(share, 1e-9)) for share in self.devices.w]
        gaps = [log_w[0] - (log_w[max(rank, 1)] if fan > 1 else 0.0) for rank in range(fan)]
        tokens = [planted.choices(row.prefix, fan) for row in step.rows]
        rows = (len(step.rows), 1)
        return Proposals(
            np.array(tokens, np.int64),
            np.tile(np.array(log_w, np.float32), rows),
            np.tile(np.array(gaps, np.float32), rows),
        )
