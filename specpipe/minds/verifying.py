"""The verifier's mind: when to run which pass over all requests, and what a pass commits."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from specpipe.minds.check import Check
from specpipe.minds.choosing import Candidate, Choice, candidate, choose
from specpipe.minds.costs import PassCosts
from specpipe.minds.patience import Patience
from specpipe.words.batch import Batch
from specpipe.words.messages import Close, Edges, Message, Open, Recall, Resync, Verdict
from specpipe.words.trie import Edge, Node


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


@dataclass(frozen=True, slots=True)
class Prefill:
    """Tokens that are known already: of a prompt (`wide`), or committed in an earlier life (decoding widths)."""

    check: Check
    batch: Batch
    wide: bool


@dataclass(frozen=True, slots=True)
class Pass:
    """One forward pass: for each request its root and the nodes to check, in the order of the batch's rows."""

    parts: list[tuple[Check, list[Node]]]
    batch: Batch

    @property
    def checks(self) -> list[Check]:
        """The request of each row."""
        return [check for check, nodes in self.parts for _ in range(1 + len(nodes))]

    @property
    def drafted(self) -> list[list[int]]:
        """The drafted tokens of each row's text, from below the root to the row itself; the root's own has none."""
        return [[node.token for node in nodes[:length]] for _, nodes in self.parts for length in range(1 + len(nodes))]

    def apart(self) -> list["Pass"]:
        """Return a pass for each request alone."""
        passes, row = list[Pass](), 0
        for check, nodes in self.parts:
            upto = row + 1 + len(nodes)
            passes.append(Pass([(check, nodes)], self.batch.some(slice(row, upto))))
            row = upto
        return passes


Work = Prefill | Pass


class Verifying:
    """Told of requests and edges, says what to run and what it commits."""

    def __init__(self, shape: Shape, costs: PassCosts) -> None:
        self.shape = shape
        self.costs = costs
        self.patience = Patience()
        self._checks: dict[int, Check] = {}
        self._lanes = list(range(shape.requests))[::-1]
        self._wake: float | None = None
        self._prefilled = False

    @property
    def requests(self) -> Sequence[int]:
        """The requests that are open here."""
        return list(self._checks)

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
            case Recall() | Resync():
                return self._repeat(message.request, message.start)
        return []

    def plan(self, now: float) -> Work | None:
        """Return the next work, or None while there is none or waiting is better (then until `wake`)."""
        self._wake = None
        prefill = self._next_prefill()
        if prefill is None or self._prefilled:
            self._prefilled = False
            chosen = self._next_pass(now)
            return chosen or prefill
        self._prefilled = True
        return prefill

    def wake(self) -> float | None:
        """Return when to plan again even if nothing arrives."""
        return self._wake

    def settle_prefill(self, work: Prefill) -> None:
        """Note that the tokens of a prefill are in the slab."""
        work.check.held += len(work.batch)

    def settle(
        self, work: Pass, tokens: Sequence[int], log_p: Sequence[float], began: float, ended: float
    ) -> list[Verdict]:
        """Commit what was sampled at each row of a pass; return a verdict for each request."""
        self.costs.observe(self._padded(len(work.batch)), ended - began)
        verdicts = []
        row = 0
        for check, nodes in work.parts:
            upto = row + 1 + len(nodes)
            if self._checks.get(check.request.request) is not check:
                row = upto
                continue
            length = check.walk(nodes, tokens[row:upto])
            checked = len(nodes) - check.foresaw_end(nodes, tokens[row:upto], length)
            start = check.output
            check.commit(list(tokens[row : row + length]), list(log_p[row : row + length]), self.shape.context, ended)
            verdicts.append(_verdict(check, start, checked, began, ended))
            row = upto
        return verdicts

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
        return [_verdict(check, check.output, 0, 0.0, 0.0)]

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
            check.trie.insert(Edge(*fields))

    def _repeat(self, request: int, start: int) -> list[Verdict]:
        check = self._checks.get(request)
        if check is None or start >= check.output:
            return []
        return [_verdict(check, start, 0, 0.0, 0.0)]

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

    def _next_pass(self, now: float) -> Pass | None:
        ready = [candidate(check, self.shape.context) for check in self._checks.values() if check.decoding]
        ready = [each for each in ready if self._block_ready(each, now)]
        if not ready:
            return None
        chosen = choose(ready, self._seconds, self.shape.most_rows)
        wider = self._seconds(sum(1 + take for _, take in chosen.takes) + 1)
        until = self.patience.worth_waiting(chosen, wider, now)
        if until is not None:
            self._wake_by(until)
            return None
        return _pass(chosen)

    def _block_ready(self, each: Candidate, now: float) -> bool:
        """A sequential request waits for its whole block; the others never wait alone."""
        check = each.check
        if check.request.mode != "sequential" or self.patience.absent:
            return True
        whole = min(check.request.nodes, check.room(self.shape.context) - 1)
        if len(each.nodes) >= whole or (each.nodes and check.stops(each.nodes[-1].token)):
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


def _pass(chosen: Choice) -> Pass:
    parts = [(each.check, each.nodes[:take]) for each, take in chosen.takes]
    return Pass(parts, Batch.joined([_chain(check, nodes) for check, nodes in parts]))


def _chain(check: Check, nodes: Sequence[Node]) -> Batch:
    """The root and drafted tokens below it, which follow what the slab holds."""
    rows = [check.trie.root, *nodes]
    return Batch.chain(check.lane, rows[0].position, [row.token for row in rows], [row.prefix for row in rows])


def _verdict(check: Check, start: int, checked: int, began: float, ended: float) -> Verdict:
    return Verdict(
        request=check.request.request,
        life=check.request.life,
        start=start,
        checked=checked,
        chain=checked,
        hit=not check.missed,
        began=began,
        ended=ended,
        finish=check.finish,
        tokens=np.array(check.tokens[check.prompt + start :], np.int32),
        log_p=np.array(check.log_p[start:], np.float32),
    )
