"""The drafter's mind: best-first growth of the tries of all requests under one budget of rows.

Chains run ahead (PEARL, AMUSD), alternatives at each possible rejection (SSD, SpecBranch) and dynamic
trees (EAGLE-2, Sequoia) are what best-first growth does where each is best.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from specpipe.minds.calibration import Calibration, Mark
from specpipe.minds.draft import Draft
from specpipe.minds.stepping import Step, Stepper
from specpipe.words.messages import Close, Edges, Message, Open, Resync, Verdict
from specpipe.words.proposals import Proposals
from specpipe.words.trie import Node

# A node less likely than this is not expanded, and one less likely than the other not sent: the verifier
# would not check it. What became likely since is sent when the root moves.
LEAST_EXPANDED = 1e-4
LEAST_SENT = 1e-3
_CHAIN_GUESSES = 8
_DEEPEST = 64


@dataclass(frozen=True, slots=True)
class Shape:
    """The drafter's room: `lanes` rows in a step, `requests` at once, `slots` KV entries for each,
    `context` positions, prompts cut every `prefill_rows`. `model` False: n-grams alone.
    """

    lanes: int
    requests: int
    slots: int
    context: int
    prefill_rows: int
    model: bool = True
    ngram: bool = False


class Drafting:
    """Told of requests and verdicts, says what to run next and which edges follow from it."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.calibration = Calibration()
        self._drafts: dict[int, Draft] = {}
        self._lanes = list(range(shape.requests))[::-1]
        self._stepper = Stepper(shape.prefill_rows)
        self._steps = 0
        self._step_s = 0.0

    @property
    def requests(self) -> Sequence[int]:
        """The requests that are open here."""
        return list(self._drafts)

    def handle(self, message: Message) -> Sequence[Edges | Resync]:
        """Take in what arrived; return what to send: edges that are likely now, or a question for a gap."""
        match message:
            case Open():
                self._open(message)
            case Close():
                self._close(message.request)
            case Verdict():
                return self._follow(message)
        return []

    def plan(self) -> Step | None:
        """Return the rows of the next step, or None while there is nothing worth running."""
        for draft in self._drafts.values():
            if self.shape.model and (step := self._stepper.prefill(draft)):
                return step
        chosen = self._choose()
        return self._stepper.step(chosen) if chosen else None

    def settle(self, step: Step, proposals: Proposals | None, seconds: float) -> list[Edges]:
        """Take in what a step produced; return the edges worth sending, by request."""
        if step.prefill:
            return []
        self._steps += 1
        self._step_s = seconds
        for index, row in enumerate(step.rows):
            if row.node is not None:
                self._grow(row.draft, row.node, proposals, index)
        return [edges for draft in dict.fromkeys(row.draft for row in step.rows) for edges in self._news(draft)]

    def _open(self, message: Open) -> None:
        self._close(message.request)
        if not self._lanes or message.mode == "target":
            return
        room = min(self.shape.slots, 4096)
        self._drafts[message.request] = Draft(message, self._lanes.pop(), self.shape.slots, room)

    def _close(self, request: int) -> None:
        draft = self._drafts.pop(request, None)
        if draft is not None:
            self._lanes.append(draft.lane)

    def _follow(self, verdict: Verdict) -> Sequence[Edges | Resync]:
        draft = self._drafts.get(verdict.request)
        if draft is None or verdict.life < draft.request.life:
            return []
        known = draft.output - verdict.start
        if known < 0:
            return [Resync(request=verdict.request, start=draft.output)]
        if fresh := verdict.tokens.tolist()[known:]:
            draft.commit(fresh, self.calibration)
        if verdict.finish:
            self._close(verdict.request)
            return []
        return self._news(draft)

    def _choose(self) -> list[tuple[Draft, Node]]:
        chosen: list[tuple[Draft, Node]] = []
        while len(chosen) < self.shape.lanes:
            draft = max(self._growing(), key=lambda each: each.peek() or 0.0, default=None)
            if draft is None:
                break
            node = draft.pop()
            if self._worth(draft, node):
                chosen.append((draft, node))
                if draft.request.mode == "sequential":
                    break
        return chosen

    def _growing(self) -> list[Draft]:
        return [draft for draft in self._drafts.values() if self._has_room(draft) and self._is_likely(draft)]

    def _is_likely(self, draft: Draft) -> bool:
        likelihood = draft.peek()
        return likelihood is not None and (likelihood >= LEAST_EXPANDED or draft.request.mode == "sequential")

    def _has_room(self, draft: Draft) -> bool:
        """Whether a whole step on this draft alone, however deep its nodes, finds slots."""
        missing = len(draft.tokens) - draft.cached
        return not self.shape.model or draft.slots.free > missing + self.shape.lanes + _DEEPEST

    def _worth(self, draft: Draft, node: Node) -> bool:
        """Whether a child of `node` could be checked: within the context, the budget and the mode."""
        child = node.position + 1
        last_checked = len(draft.request.prompt) + draft.request.ending.max_tokens - 2
        depth = child - draft.trie.root.position
        deepest = draft.request.nodes if draft.request.mode == "sequential" else _DEEPEST
        return child < self.shape.context and child <= last_checked and depth <= deepest

    def _grow(self, draft: Draft, node: Node, proposals: Proposals | None, index: int) -> None:
        if proposals is not None:
            self._from_model(draft, node, proposals, index)
        if self.shape.ngram:
            self._from_lookup(draft, node)

    def _from_model(self, draft: Draft, node: Node, proposals: Proposals, index: int) -> None:
        fan = 1 if draft.request.mode == "sequential" else proposals.tokens.shape[1]
        for rank in range(fan):
            token = int(proposals.tokens[index, rank])
            if token >= 0:
                mark = Mark("model", not draft.request.sampling.greedy, rank, float(proposals.gaps[index, rank]))
                log_q = float(proposals.log_q[index, rank])
                draft.grow(node, token, log_q, self.calibration.chance(mark), mark)

    def _from_lookup(self, draft: Draft, start: Node) -> None:
        """Follow the n-gram guess for as long as there is one: a chain costs no forward pass."""
        if draft.request.mode == "sequential" and start.children:
            return
        node: Node | None = start
        path = [each.token for each in draft.path(start)]
        for _ in range(_CHAIN_GUESSES):
            guess = draft.lookup.guess(path)
            if node is None or guess is None or not self._worth(draft, node):
                break
            mark = Mark("ngram", not draft.request.sampling.greedy, 0, float(guess.matched))
            node = draft.grow(node, guess.token, 0.0, self.calibration.chance(mark), mark)
            path.append(guess.token)

    def _news(self, draft: Draft) -> list[Edges]:
        """Return what the verifier does not know yet and might check."""
        least = 0.0 if draft.request.mode == "sequential" else LEAST_SENT
        nodes = draft.unsent(least)
        if not nodes:
            return []
        edges = Edges(
            request=draft.request.request,
            steps=self._steps,
            step_s=self._step_s,
            parents=np.array([node.parent.prefix for node in nodes if node.parent], np.uint64),
            tokens=np.array([node.token for node in nodes], np.int32),
            log_q=np.array([node.log_q for node in nodes], np.float32),
            chances=np.array([node.chance for node in nodes], np.float32),
        )
        return [edges]
