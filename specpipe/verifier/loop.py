"""The verifier's loop."""

import logging
from collections.abc import Sequence
from typing import Protocol

from specpipe.clock import now
from specpipe.errors import WorkerError
from specpipe.links.seam import Link
from specpipe.links.wait import wait
from specpipe.minds.check import Check, Top
from specpipe.minds.verifying import Verifying
from specpipe.minds.work import Move, Pass, Prefill, Work
from specpipe.process.attending import attend
from specpipe.process.ending import Ending
from specpipe.process.pulse import Heart
from specpipe.process.tracing import arrow
from specpipe.process.wires import Wires
from specpipe.trace import Recorder, Silence
from specpipe.words.messages import Close, Greet, Message, Stop, Unserved, Verdict

_log = logging.getLogger(__name__)


class Chosen(Protocol):
    """The target's own token after each row, its log-probability, and the best tokens where they are asked for."""

    @property
    def tokens(self) -> list[int]:
        """The tokens."""
        ...

    @property
    def log_p(self) -> list[float]:
        """Their raw log-probabilities."""
        ...

    @property
    def tops(self) -> Sequence[Top]:
        """The best tokens at each row, and their raw log-probabilities."""
        ...


class Judging(Protocol):
    """What runs the target."""

    def read(self, work: Prefill) -> None:
        """Run tokens that are known already."""
        ...

    def judge(self, work: Pass) -> Chosen:
        """Run a pass; raise `WorkerError` if there is no telling what to choose."""
        ...

    @property
    def busy_until(self) -> float:
        """The moment at which the device is done with the pass."""
        ...

    def move(self, move: Move) -> None:
        """Copy keys and values to where the committed text has its place."""
        ...

    def mend(self, lane: int) -> None:
        """Clear the lane of a request that failed, for the next one to use it."""
        ...


class Verifier:
    """Reads messages, asks its mind, runs the model, sends verdicts."""

    def __init__(
        self,
        mind: Verifying,
        model: Judging,
        wires: Wires[Link],
        *,
        heart: Heart,
        ending: Ending,
        trace: Recorder | Silence,
    ) -> None:
        self._mind = mind
        self._model = model
        self._wires = wires
        self._heart = heart
        self._ending = ending
        self._trace = trace
        self._passes = 0

    def run(self) -> None:
        """Verify until asked to end."""
        while not self._ending.asked:
            self._hear()
            work = self._mind.plan(now())
            if work is None:
                wait([*self._wires, self._ending.descriptor], self._heart.rest(self._mind.wake()))
            else:
                self._do(work)
            self._heart.beat(self._passes, self._wires.dropped)

    def _hear(self) -> None:
        for link in self._wires:
            for message in link.receive():
                self._take(message, link)

    def _take(self, message: Message, link: Link) -> None:
        if isinstance(message, Stop):
            self._ending.obey(message)
        if isinstance(message, Greet):
            self._heart.greet()
        arrow(self._trace, message, "end")
        for verdict in self._mind.handle(message, now()):
            link.send(verdict)

    def _do(self, work: Work) -> None:
        try:
            self._prefill(work) if isinstance(work, Prefill) else self._pass(work)
        except WorkerError as error:
            self._fail(work, error)

    def _prefill(self, work: Prefill) -> None:
        began = now()
        self._model.read(work)
        self._mind.settle_prefill(work)
        self._trace.span("prefill", began, now(), rows=len(work.batch))

    def _pass(self, work: Pass) -> None:
        began = now()
        chosen = self._model.judge(work)
        attend(self._wires, self._ending, self._hear, self._model.busy_until)
        ended = now()
        self._passes += 1
        # What came during the pass decides whether the new root had been drafted.
        self._hear()
        for verdict in self._mind.settle(work, chosen.tokens, chosen.log_p, began, ended, tops=chosen.tops):
            self._wires.data.send(verdict)
            arrow(self._trace, verdict, "begin")
            self._wires.control.send(verdict)
            self._record(verdict)
        self._compact()

    def _compact(self) -> None:
        while self._mind.moves:
            self._model.move(self._mind.moves.pop())

    def _record(self, verdict: Verdict) -> None:
        self._trace.span(
            "pass",
            verdict.began,
            verdict.ended,
            request=verdict.request,
            checked=verdict.checked,
            committed=len(verdict.tokens),
        )
        self._trace.instant("hit" if verdict.hit else "miss", verdict.ended)

    def _fail(self, work: Work, error: WorkerError) -> None:
        """Find out whose fault it is by running each request alone; everybody else's go on."""
        if isinstance(work, Prefill):
            self._give_up(work.check, error)
        elif len(work.parts) == 1:
            self._give_up(work.parts[0][0], error)
        else:
            for each in work.apart():
                self._do(each)

    def _give_up(self, check: Check, error: WorkerError) -> None:
        """Close what the model could not go on with."""
        number = check.request.request
        _log.error("request %d: %s", number, error)
        self._mind.handle(Close(request=number), now())
        self._model.mend(check.lane)
        self._wires.control.send(Unserved(request=number, reason=str(error)))
