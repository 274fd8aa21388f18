"""The drafter's mind: best-first growth of the tries of all requests under one budget of rows.

Chains run ahead (PEARL, AMUSD), alternatives at each possible rejection (SSD, SpecBranch) and dynamic
trees (EAGLE-2, Sequoia) are what best-first growth does where each is best.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heapreplace
from math import inf, log
from typing import NamedTuple

import numpy as np

from specpipe.minds.calibration import Calibration
from specpipe.minds.draft import Draft
from specpipe.minds.stepping import Step, Stepper, is_behind, without_model
from specpipe.words.draw import Draw
from specpipe.words.messages import Close, Draws, Edges, Message, Open, Resync, Verdict
from specpipe.words.proposals import Proposals
from specpipe.words.trie import Node

# A node less likely than this is not expanded, and one less likely than the other not sent: the verifier
# would not check it. What became likely since is sent when the root moves.
LEAST_EXPANDED = 1e-4
LEAST_SENT = 1e-3
_LEAST_PROMISE = log(LEAST_EXPANDED)
_CHAIN_GUESSES = 8
_DEEPEST = 64

# A token with its log q and gap.
Score = tuple[int, float, float]
News = Edges | Draws


class Found(NamedTuple):
    """What the model proposed after a row: its ranked tokens, and the drawn one where the ratio test wants it."""

    ranked: Sequence[Score]
    draw: Draw | None


_NOTHING = Found((), None)


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
        self._prefilled = False

    @property
    def standing(self) -> dict[int, tuple[int, int]]:
        """The requests that are open here, each with its life and the number of its tokens that are known."""
        return {number: (draft.request.life, draft.output) for number, draft in self._drafts.items()}

    def handle(self, message: Message) -> Sequence[News | Resync]:
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
        """Return the rows of the next step, or None while there is nothing worth running.

        Prompts take turns with growth, so that a long one does not leave the other requests without drafts.
        """
        first, second = (self._grow, self._prefill) if self._prefilled else (self._prefill, self._grow)
        step = first() or second()
        self._prefilled = step is not None and step.prefill
        return step

    def settle(self, step: Step, proposals: Proposals | None, seconds: float) -> list[News]:
        """Take in what a step produced; return what is worth sending of it, by request."""
        if step.prefill:
            return []
        self._steps += 1
        self._step_s = seconds
        found = _by_row(proposals) if proposals else [_NOTHING] * len(step.rows)
        for row, mine in zip(step.rows, found, strict=True):
            if row.node is not None and self._is_open(row.draft) and row.draft.alive(row.node):
                self._note(row.draft, row.node, mine)
        drafts = dict.fromkeys(row.draft for row in step.rows)
        return [news for draft in drafts if self._is_open(draft) for news in self._news(draft)]

    def _prefill(self) -> Step | None:
        if not self.shape.model:
            return None
        drafts = (draft for draft in self._drafts.values() if len(draft.tokens) < self.shape.context)
        return next(filter(None, map(self._stepper.prefill, drafts)), None)

    def _grow(self) -> Step | None:
        chosen = self._choose()
        if not chosen:
            return None
        return self._stepper.step(chosen) if self.shape.model else without_model(chosen)

    def _open(self, message: Open) -> None:
        known = self._drafts.get(message.request)
        if known and known.request.life >= message.life:
            return
        self._close(message.request)
        if not self._lanes or message.mode == "target":
            return
        room = min(self.shape.slots, 4096)
        self._drafts[message.request] = Draft(message, self._lanes.pop(), self.shape.slots, room)

    def _close(self, request: int) -> None:
        draft = self._drafts.pop(request, None)
        if draft is not None:
            self._lanes.append(draft.lane)

    def _follow(self, verdict: Verdict) -> Sequence[News | Resync]:
        draft = self._drafts.get(verdict.request)
        if draft is None or verdict.life < draft.request.life:
            return []
        known = draft.output - verdict.start
        if known < 0:
            return [Resync(request=verdict.request, start=draft.output)]
        if fresh := verdict.tokens.tolist()[known:]:
            draft.commit(fresh)
        if verdict.finish:
            self._close(verdict.request)
            return []
        return self._news(draft)

    def _is_open(self, draft: Draft) -> bool:
        return self._drafts.get(draft.request.request) is draft

    def _choose(self) -> list[tuple[Draft, Node]]:
        """Take the likeliest nodes that are worth a row, whatever request they belong to."""
        drafts = enumerate(draft for draft in self._drafts.values() if self._can_grow(draft))
        queue = [(-promise, order, draft) for order, draft in drafts if (promise := _promise(draft)) > -inf]
        heapify(queue)
        chosen: list[tuple[Draft, Node]] = []
        while queue and len(chosen) < self.shape.lanes:
            _, order, draft = queue[0]
            node = draft.pop()
            if node is not None and self._worth(draft, node):
                chosen.append((draft, node))
            elif node is not None:
                draft.defer(node)
            if (promise := _promise(draft)) > -inf:
                heapreplace(queue, (-promise, order, draft))
            else:
                heappop(queue)
        return chosen

    def _can_grow(self, draft: Draft) -> bool:
        """Whether a whole step on this draft alone, however deep its nodes, finds slots and their children a place."""
        if len(draft.trie) >= draft.trie.capacity:
            return False
        if not self.shape.model:
            return True
        missing = len(draft.tokens) - draft.cached
        return not is_behind(draft) and draft.slots.free > missing + self.shape.lanes + _DEEPEST

    def _worth(self, draft: Draft, node: Node) -> bool:
        """Whether a child of `node` could be checked: within the context, the budget and the mode."""
        child = node.position + 1
        last_checked = len(draft.request.prompt) + draft.request.ending.max_tokens - 2
        depth = child - draft.trie.root.position
        deepest = draft.request.nodes if draft.request.mode == "sequential" else _DEEPEST
        return child < self.shape.context and child <= last_checked and depth <= deepest

    def _note(self, draft: Draft, node: Node, found: Found) -> None:
        fan = 1 if draft.request.mode == "sequential" else len(found.ranked)
        if found.draw:
            self._note_draw(draft, node, found.draw, found.ranked[: fan - 1])
            return
        sampled = not draft.request.sampling.greedy
        known = {guess.token for guess in draft.guesses.get(node.prefix, ())}
        for rank, (token, log_q, gap) in enumerate(found.ranked[:fan]):
            if token >= 0 and token not in known:
                draft.guess(node, token, log_q, self.calibration.kind("model", sampled, rank, gap))
        if self.shape.ngram:
            self._look_up(draft, node)

    def _note_draw(self, draft: Draft, node: Node, draw: Draw, others: Sequence[Score]) -> None:
        """Note the one token that the ratio test will judge, and guesses of what will replace it."""
        if draft.guesses.get(node.prefix):
            return
        draft.guess(node, draw.token, -draw.surprise, self.calibration.kind("drawn", True, 0, draw.surprise), draw)
        for rank, (token, log_q, gap) in enumerate(others, 1):
            if token >= 0:
                draft.guess(node, token, log_q, self.calibration.kind("replacing", True, rank, gap))

    def _look_up(self, draft: Draft, start: Node) -> None:
        """Follow the n-gram guess for as long as there is one: a chain costs no forward pass."""
        if draft.request.mode == "sequential" and draft.guesses.get(start.prefix):
            return
        sampled, drawing = not draft.request.sampling.greedy, draft.request.sampling.drawing
        node: Node | None = start
        path = [each.token for each in draft.path(start)]
        for _ in range(_CHAIN_GUESSES):
            found = draft.lookup.guess(path)
            if node is None or found is None or not self._worth(draft, node):
                break
            kind = self.calibration.kind("ngram", sampled, 0, float(found.matched))
            node = draft.follow(node, found.token, kind, Draw.certain(found.token) if drawing else None)
            path.append(found.token)

    def _news(self, draft: Draft) -> list[News]:
        """Return what the verifier does not know yet and might check."""
        least = 0.0 if draft.request.mode == "sequential" else LEAST_SENT
        news = draft.unsent(least)
        if not news:
            return []
        edges = Edges(
            request=draft.request.request,
            steps=self._steps,
            step_s=self._step_s,
            parents=np.array([guess.parent.prefix for guess in news], np.uint64),
            tokens=np.array([guess.token for guess in news], np.int32),
            log_q=np.array([guess.log_q for guess in news], np.float32),
            chances=np.array([guess.chance for guess in news], np.float32),
        )
        draws = [(guess.parent.prefix, guess.draw) for guess in news if guess.draw]
        # First, so that no pass that knows of an edge lacks its distribution.
        return [Draws.of(draft.request.request, draws), edges] if draws else [edges]


def _by_row(proposals: Proposals) -> list[Found]:
    """Return what was proposed after each row."""
    arrays = (proposals.tokens.tolist(), proposals.log_q.tolist(), proposals.gaps.tolist())
    ranked = [list(zip(*row, strict=True)) for row in zip(*arrays, strict=True)]
    return list(map(Found, ranked, proposals.draws or [None] * len(ranked)))


def _promise(draft: Draft) -> float:
    """Return the log-likelihood of the best candidate for expansion, minus infinity where none is likely enough."""
    promise = draft.peek()
    return promise if promise >= _LEAST_PROMISE or draft.request.mode == "sequential" else -inf
