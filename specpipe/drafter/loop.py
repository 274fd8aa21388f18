"""The drafter's loop."""

import logging
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from specpipe.clock import now
from specpipe.errors import WorkerError
from specpipe.links.seam import DataDialer, Link
from specpipe.links.wait import wait
from specpipe.minds.drafting import Drafting, News
from specpipe.minds.stepping import Step
from specpipe.process.attending import attend
from specpipe.process.ending import Ending
from specpipe.process.pulse import Heart
from specpipe.process.tracing import arrow
from specpipe.process.wires import Wires
from specpipe.trace import Recorder, Silence
from specpipe.words.messages import Close, Edges, Greet, Message, Peer, Resync, Steps, Stop, Unserved
from specpipe.words.proposals import Proposals

_log = logging.getLogger(__name__)
_REPORT_S = 0.02
_WEIGHT = 0.2


class Guessing(Protocol):
    """What runs a step: a model, or nothing where n-grams alone draft."""

    def guess(self, step: Step) -> Proposals | None:
        """Return the best children of each row of the step; raise `WorkerError` if there is no telling."""
        ...

    @property
    def asynchronous(self) -> bool:
        """Whether the device works on after `guess` has returned."""
        ...

    @property
    def busy_until(self) -> float:
        """The moment at which the device is done with the step."""
        ...

    def mend(self, lane: int) -> None:
        """Clear the lane of a request that failed, for the next one to use it."""
        ...


class Drafter:
    """Reads messages, asks its mind, runs the model, sends edges."""

    def __init__(
        self,
        mind: Drafting,
        model: Guessing | None,
        wires: Wires[DataDialer],
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
        self._reports = StepReports(wires.control)
        self._edges: list[News] = []
        self._step_s = 0.0
        self._steps = 0
        self._peer = ""

    def run(self) -> None:
        """Draft until asked to end."""
        while not self._ending.asked:
            self._hear()
            step = self._mind.plan()
            if step is None:
                self._flush()
                self._rest()
            else:
                self._draft(step)
            self._heart.beat(self._steps, self._wires.dropped, self._peer)

    def _hear(self) -> None:
        for message in [*self._wires.control.receive(), *self._wires.data.receive()]:
            self._take(message)

    def _take(self, message: Message) -> None:
        match message:
            case Stop():
                self._ending.obey(message)
            case Greet():
                self._heart.greet()
            case Peer():
                self._follow(message)
            case _:
                arrow(self._trace, message, "end")
                self._send(self._mind.handle(message))

    def _follow(self, peer: Peer) -> None:
        """Turn to a verifier; one that is known already would lose what is queued."""
        if peer.edges != self._peer:
            self._peer = peer.edges
            self._wires.data.connect(peer.edges, peer.verdicts)

    def _draft(self, step: Step) -> None:
        began = now()
        try:
            proposals = self._guess(step)
        except WorkerError as error:
            self._fail(step, error)
            return
        ended = now()
        self._trace.span("prefill" if step.prefill else "step", began, ended, rows=len(step.rows))
        self._edges += self._mind.settle(step, proposals, self._step_s)
        self._note(step, began, ended)

    def _guess(self, step: Step) -> Proposals | None:
        """Run a step, and send what the one before found as soon as no device waits for it."""
        if self._model is None or not self._model.asynchronous:
            self._flush()
        if self._model is None:
            return None
        proposals = self._model.guess(step)
        self._flush()
        attend(self._wires, self._ending, self._hear, self._model.busy_until)
        return proposals

    def _flush(self) -> None:
        edges, self._edges = self._edges, []
        self._send(edges)

    def _fail(self, step: Step, error: WorkerError) -> None:
        """Find out whose fault it is by running each request alone, and draft no more for that one."""
        apart = step.apart()
        if len(apart) > 1:
            for each in apart:
                self._draft(each)
            return
        draft = step.rows[0].draft
        _log.error("request %d is drafted no more: %s", draft.request.request, error)
        self._mind.handle(Close(request=draft.request.request))
        if self._model:
            self._model.mend(draft.lane)
        self._wires.control.send(Unserved(request=draft.request.request, reason=str(error)))

    def _send(self, messages: Sequence[News | Resync]) -> None:
        for message in messages:
            self._wires.data.send(message)
            arrow(self._trace, message, "begin")
            self._reports.count(message)

    def _note(self, step: Step, began: float, ended: float) -> None:
        self._steps += 1
        self._reports.add(began, ended)
        if not step.prefill:
            self._step_s += (_WEIGHT if self._step_s else 1.0) * (ended - began - self._step_s)

    def _rest(self) -> None:
        self._reports.flush()
        wait([*self._wires, self._ending.descriptor], self._heart.rest(None))


class StepReports:
    """Collects the drafter's busy times and sends them to the coordinator in lots."""

    def __init__(self, control: Link) -> None:
        self._control = control
        self._began: list[float] = []
        self._ended: list[float] = []
        self._edges = 0

    def count(self, message: Message) -> None:
        """Count the edges of a message that was sent."""
        self._edges += len(message.tokens) if isinstance(message, Edges) else 0

    def add(self, began: float, ended: float) -> None:
        """Note one step."""
        self._began.append(began)
        self._ended.append(ended)
        if ended - self._began[0] > _REPORT_S:
            self.flush()

    def flush(self) -> None:
        """Send what has been collected."""
        if not self._began:
            return
        steps = Steps(
            edges=self._edges,
            began=np.array(self._began, np.float64),
            ended=np.array(self._ended, np.float64),
        )
        self._control.send(steps)
        self._began, self._ended, self._edges = [], [], 0
