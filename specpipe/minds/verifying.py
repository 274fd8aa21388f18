"""The verifier's mind: when to run which pass over all requests, and what a pass commits."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from specpipe.minds.branches import Node
from specpipe.minds.check import Check, Top
from specpipe.minds.choosing import Choice, candidate, choose, choose_shape
from specpipe.minds.costs import PassCosts
from specpipe.minds.patience import Patience
from specpipe.minds.work import Move, Pass, Prefill, Work, passing
from specpipe.words.batch import Batch
from specpipe.words.messages import Close, Draws, Edges, Message, Open, Recall, Resync, Verdict


@dataclass(frozen=True, slots=True)
class Shape:
    """The verifier's room: requests at once, positions of each, where prompts are cut, the rows that a pass
    is padded to a multiple of (1: not padded), and the most rows in a pass.
    """

    requests: int
    context: int
    prefill_rows: int
    block_rows: int = 1
    most_rows: int = 64


class Verifying:
    """Told of requests and edges, says what to run and what it commits.

    `moves` are what the slab must do after a pass was settled; whoever does them empties the list.
    """

    def __init__(self, shape: Shape, costs: PassCosts) -> None:
        self.shape = shape
        self.costs = costs
        self.patience = Patience()
        self.moves: list[Move] = []
        self._checks: dict[int, Check] = {}
        self._lanes = list(range(shape.requests))[::-1]
        self._wake: float | None = None
        self._prefilled = False

    @property
    def standing(self) -> dict[int, tuple[int, int]]:
        """The requests that are open here, each with its life and the number of its committed tokens."""
        return {number: (check.request.life, check.output) for number, check in self._checks.items()}

    def handle(self, message: Message, now: float) -> list[Verdict]:
        """Take in what arrived; return the verdicts that its sender must have at once: those that it asked to be
        repeated, and the end of a request that was opened without room for a token.
        """
        match message:
            case Open():
                return self._open(message, now)
            case Close():
                self._close(message.request)
            case Edges():
                self._learn(message, now)
            case Draws():
                self._keep(message)
            case Recall() | Resync():
                return self._repeat(message.request, message.start)
        return []

    def plan(self, now: float) -> Work | None:
        """Return the next work, or None while there is none or waiting is better (then until `wake`).

        Chunks of prompts take turns with passes, which do not wait for drafts then: a chunk would take longer.
        """
        self._wake = None
        prefill = self._next_prefill()
        if prefill is None or self._prefilled:
            self._prefilled = False
            return self._next_pass(now, patient=prefill is None) or prefill
        self._prefilled = True
        return prefill

    def wake(self) -> float | None:
        """Return when to plan again even if nothing arrives."""
        return self._wake

    def settle_prefill(self, work: Prefill) -> None:
        """Note that the tokens of a prefill are in the slab; the next chunk is another request's, if one waits."""
        work.check.held += len(work.batch)
        number = work.check.request.request
        if self._checks.get(number) is work.check:
            self._checks[number] = self._checks.pop(number)

    def settle(
        self,
        work: Pass,
        tokens: Sequence[int],
        log_p: Sequence[float],
        began: float,
        ended: float,
        *,
        tops: Sequence[Top] = (),
    ) -> list[Verdict]:
        """Commit what was sampled at each row of a pass; return a verdict for each request.

        `tops` are the best tokens at each row, where a request wants to be told of them.
        """
        self.costs.observe(self._padded(len(work.batch)), ended - began)
        verdicts = []
        first = 0
        for check, nodes in work.parts:
            rows = range(first, first + 1 + len(nodes))
            first = rows.stop
            if self._checks.get(check.request.request) is not check:
                continue
            walked = check.walk(nodes, [tokens[row] for row in rows])
            start, root = check.output, check.root.position
            mine = [rows[row] for row in walked]
            check.commit([tokens[row] for row in mine], [log_p[row] for row in mine], self.shape.context, ended)
            check.tell([tops[row] for row in mine] if tops else [])
            self._compact(check, root, walked)
            verdicts.append(_verdict(check, start, (began, ended), _counted(nodes, walked)))
        return verdicts

    def _compact(self, check: Check, root: int, walked: Sequence[int]) -> None:
        """Have the accepted path follow the root in the slab without gaps."""
        astray = [(root + row, root + place) for place, row in enumerate(walked) if row != place]
        if astray and not check.finish:
            sources, targets = np.array(astray, np.int64).T
            self.moves.append(Move(check.lane, sources, targets))

    def _open(self, message: Open, now: float) -> list[Verdict]:
        known = self._checks.get(message.request)
        if known and known.request.life >= message.life:
            return []
        self._close(message.request)
        if not self._lanes:
            return []
        check = self._checks[message.request] = Check(message, self._lanes.pop(), now)
        if check.room(self.shape.context) > 0:
            return []
        check.finish = "length"
        return [_verdict(check, check.output)]

    def _close(self, request: int) -> None:
        check = self._checks.pop(request, None)
        if check is not None:
            self._lanes.append(check.lane)

    def _learn(self, edges: Edges, now: float) -> None:
        self.patience.hear(edges, now)
        check = self._checks.get(edges.request)
        if check is None:
            return
        check.heard_at = now
        arrays = (edges.parents, edges.tokens, edges.log_q, edges.chances)
        for fields in zip(*(array.tolist() for array in arrays), strict=True):
            check.drafted.add(*fields)

    def _keep(self, draws: Draws) -> None:
        check = self._checks.get(draws.request)
        if check is None:
            return
        for prefix, draw in draws.apart():
            check.drafted.draw(prefix, draw)

    def _repeat(self, request: int, start: int) -> list[Verdict]:
        check = self._checks.get(request)
        if check is None or start >= check.output:
            return []
        return [_verdict(check, start)]

    def _next_prefill(self) -> Prefill | None:
        for check in self._checks.values():
            if not check.finish and not check.decoding:
                return self._prefill(check)
        return None

    def _prefill(self, check: Check) -> Prefill:
        """Cut where every life of the request cuts, so that the slab holds the same bits."""
        last = check.prompt - 1
        wide = check.held < last
        rows = self.shape.prefill_rows if wide else max(self.shape.block_rows, 8)
        stop = min(check.held + rows, last if wide else len(check.tokens) - 1)
        known = check.tokens[check.held : stop]
        return Prefill(check, Batch.chain(check.lane, check.held, known, [0] * len(known)), wide)

    def _next_pass(self, now: float, *, patient: bool) -> Pass | None:
        ready = [check for check in self._checks.values() if check.decoding and self._block_ready(check, now)]
        if not ready:
            return None
        chosen = choose_shape(ready, self.shape.context, self._seconds, self.shape.most_rows)
        until = self.patience.worth_waiting(chosen, self._ahead(chosen), now) if patient else None
        if until is not None:
            self._wake_by(until)
            return None
        return passing(chosen)

    def _ahead(self, chosen: Choice) -> Choice:
        """Return what could be chosen one drafter step from now."""
        candidates = self.patience.foresight.ahead([each for each, _ in chosen.takes])
        return choose(candidates, self._seconds, self.shape.most_rows)

    def _block_ready(self, check: Check, now: float) -> bool:
        """A sequential request waits for its whole block; the others never wait alone."""
        if check.request.mode != "sequential" or self.patience.absent:
            return True
        block = candidate(check, self.shape.context, "chain")
        if len(block.nodes) >= min(block.limit, block.deepest - check.root.position):
            return True
        if check.stops_after([check.root, *block.nodes][-1]):
            return True
        deadline = self.patience.block_deadline(check)
        if now >= deadline:
            self.patience.absent = True
            return True
        self._wake_by(deadline)
        return False

    def _wake_by(self, until: float) -> None:
        self._wake = until if self._wake is None else min(self._wake, until)

    def _seconds(self, rows: int) -> float:
        return self.costs.seconds(self._padded(rows))

    def _padded(self, rows: int) -> int:
        return -(-rows // self.shape.block_rows) * self.shape.block_rows


class _Counts(NamedTuple):
    """The drafted rows of one request in a pass, those on its first-choice chain, and how many of these were right."""

    checked: int = 0
    chain: int = 0
    right: int = 0


_NO_COUNTS = _Counts()


def _counted(nodes: Sequence[Node], walked: Sequence[int]) -> _Counts:
    return _Counts(len(nodes), sum(node.first for node in nodes), sum(nodes[row - 1].first for row in walked[1:]))


def _verdict(check: Check, start: int, ran: tuple[float, float] = (0.0, 0.0), counts: _Counts = _NO_COUNTS) -> Verdict:
    tops = start * check.request.sampling.top_logprobs
    return Verdict(
        request=check.request.request,
        life=check.request.life,
        start=start,
        checked=counts.checked,
        chain=counts.chain,
        right=counts.right,
        hit=not check.missed,
        began=ran[0],
        ended=ran[1],
        finish=check.finish,
        tokens=np.array(check.tokens[check.prompt + start :], np.int32),
        log_p=np.array(check.log_p[start:], np.float32),
        top_ids=np.array(check.top_ids[tops:], np.int32),
        top_log_p=np.array(check.top_log_p[tops:], np.float32),
    )
