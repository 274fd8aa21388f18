"""All three minds with nothing between them but queues, whose turns a random source takes.

Control queues keep their order, and may lose. The data link repeats, reorders and loses. Workers die, with what was
on its way to and from them, and come back; clients ask, cancel and vanish. Each worker has a `Slab`, so that
every batch is held to its contract on the way.
"""

import random
from collections import deque
from collections.abc import Sequence
from math import log

import numpy as np

from specpipe.minds import drafting, verifying
from specpipe.minds.actions import Action, ToWorker
from specpipe.minds.booking import Booking
from specpipe.minds.costs import PassCosts
from specpipe.minds.draft import Draft
from specpipe.minds.drafting import Drafting
from specpipe.minds.stepping import Row, Step
from specpipe.minds.verifying import Verifying
from specpipe.minds.work import Pass, Work
from specpipe.text.simulated import SimulatedTokenizer
from specpipe.text.stream import TextStream
from specpipe.words import planted
from specpipe.words import prefix as prefixes
from specpipe.words.messages import (
    Ask,
    Close,
    Delta,
    Failed,
    Finished,
    Gone,
    Greet,
    Hello,
    Message,
    Open,
    Peer,
    Recall,
    Stop,
    Verdict,
)
from specpipe.words.messages.fields import Role
from specpipe.words.proposals import Proposals
from tests.minds.messages import hello, pulse
from tests.minds.slab import Slab

W = (0.6, 0.15, 0.1)
CONTEXT = 48
LANES = 2
PREFILL = 4
SLOTS = 200


class Texts:
    """The simulated tokenizer; a prompt is its ids."""

    def __init__(self, stop_tokens: frozenset[int] = frozenset()) -> None:
        self.stop_tokens = stop_tokens

    def prompt(self, ask: Ask) -> list[int]:
        """Return the ids."""
        return [int(token) for token in ask.ids]

    def text(self, stops: tuple[str, ...]) -> TextStream:
        """Return a fresh text."""
        return TextStream(SimulatedTokenizer(), stops)


def reference(number: int, request: Ask, context: int = CONTEXT) -> tuple[list[int], str, str]:
    """Return the tokens, text and finish reason of the target alone: one token after the other, and the stop rules."""
    prompt = request.ids.tolist()
    prefix = prefixes.extend(prefixes.origin(number), prompt)
    stream = TextStream(SimulatedTokenizer(), request.stop)
    tokens: list[int] = []
    text = reason = ""
    most = min(request.max_tokens or context, context - len(prompt))
    while not reason:
        token = planted.truth(prefix, W)
        prefix = prefixes.child(prefix, token)
        tokens.append(token)
        text += stream.push(token)
        if token in request.stop_tokens or stream.stopped:
            reason = "stop"
        elif len(tokens) == most:
            reason = "length"
    text += stream.finish()
    return tokens, text, "stop" if stream.stopped else reason


class DrafterDesk:
    """A drafter's mind, its slab and the simulated draft."""

    def __init__(self, name: bytes) -> None:
        self.name = name
        self.mind = Drafting(drafting.Shape(4, LANES, SLOTS, CONTEXT, PREFILL))
        self.slab = Slab()

    def work(self) -> Sequence[Message]:
        """Run a step if there is one; return the edges."""
        step = self.mind.plan()
        if step is None:
            return []
        self.slab.run(step.batch, [text(row) for row in step.rows])
        return self.mind.settle(step, None if step.prefill else proposals(step), 0.005)


class VerifierDesk:
    """A verifier's mind, its slab and the simulated target."""

    def __init__(self, name: bytes) -> None:
        self.name = name
        costs = PassCosts({1: 0.1, 65: 0.1})
        self.mind = Verifying(verifying.Shape(LANES, CONTEXT, PREFILL), costs)
        self.slab = Slab()

    def work(self, now: float) -> Sequence[Verdict]:
        """Run a pass if there is one; return the verdicts."""
        work = self.mind.plan(now)
        if work is None:
            return []
        self.slab.run(work.batch, texts_of(work))
        if not isinstance(work, Pass):
            self.mind.settle_prefill(work)
            return []
        tokens = [planted.truth(prefix, W) for prefix in work.batch.prefixes.tolist()]
        verdicts = self.mind.settle(work, tokens, [0.0] * len(tokens), now, now + 0.1)
        self.slab.follow(self.mind)
        return verdicts


class House:
    """Turns are taken one at a time, some kinds more often than others.

    `asked` and `told` say what clients asked and were told, by (client, key).
    """

    def __init__(self, rng: random.Random, *, loss: float = 0.0, control_loss: float = 0.0) -> None:
        self.rng = rng
        self.loss = loss
        self.control_loss = control_loss
        self.now = 1.0
        self.booking = Booking(Texts(), waiting=3, draw_seed=lambda: 9)
        self.drafter: DrafterDesk | None = None
        self.verifier: VerifierDesk | None = None
        self.to_worker: dict[bytes, deque[Message]] = {}
        self.from_worker: dict[bytes, deque[Message]] = {}
        self.edges: list[Message] = []
        self.verdicts: list[Message] = []
        self.asked: dict[tuple[bytes, int], tuple[int, Ask]] = {}
        self.told: dict[tuple[bytes, int], list[Message]] = {}
        self.lost: set[bytes] = set()
        self.closed: set[int] = set()
        self._names = 0
        self._hellos: dict[bytes, Hello] = {}
        self._peer = ""
        self._turns = [self._drafter_turn, self._verifier_turn, self._drafter_hears, self._verifier_hears]
        self._turns += [self._coordinator_hears, self._edges_arrive, self._verdict_arrives, self._time_passes]
        self._turns += [self._worker_beats]
        self._paces = [rng.choice([1, 1, 4, 16]) for _ in self._turns]

    def start(self, role: Role) -> None:
        """Bring up a worker, which says hello."""
        self._names += 1
        name = f"{role}-{self._names}".encode()
        address = f"memory://{self._names}"
        self._hellos[name] = hello(role, lanes=LANES, context=CONTEXT, pid=self._names, edges=address)
        self.to_worker[name], self.from_worker[name] = deque(), deque([self._hellos[name]])
        if role == "drafter":
            self.drafter, self._peer = DrafterDesk(name), ""
        else:
            self.verifier = VerifierDesk(name)

    def kill(self, role: Role, *, final: bool = False) -> None:
        """Let a worker die; what it sent to the coordinator before may still arrive, or not."""
        desk = self.drafter if role == "drafter" else self.verifier
        if desk is None:
            return
        while self.from_worker[desk.name] and self.rng.random() < 0.5:
            self.hear(desk.name)
        del self.to_worker[desk.name], self.from_worker[desk.name]
        if role == "drafter":
            self.drafter, self.verdicts = None, []
        else:
            self.verifier, self.edges = None, []
        if final or not self._lost():
            gone = Gone(role=role, pid=self._hellos[desk.name].pid, final=final, reason="", secret="")
            self.act(self.booking.worker_said(b"supervisor", gone, self.now))

    def ask(self, client: bytes, request: Ask) -> None:
        """Let a client ask."""
        actions = self.booking.client_said(client, request, self.now)
        self.asked[client, request.key] = (self.booking._numbers, request)
        self.act(actions)

    def lose(self, client: bytes) -> None:
        """Let a client vanish."""
        self.lost.add(client)
        self.act(self.booking.client_lost(client, self.now))

    def act(self, actions: Sequence[Action]) -> None:
        """Put what the coordinator sends on its way; no action may name a request that was closed."""
        for action in actions:
            if isinstance(action, ToWorker):
                self._to_worker(action)
            else:
                key = getattr(action.message, "key", 0)
                self.told.setdefault((action.peer, key), []).append(action.message)

    def _to_worker(self, action: ToWorker) -> None:
        message = action.message
        if isinstance(message, Open | Recall):
            assert message.request not in self.closed
        if isinstance(message, Close):
            self.closed.add(message.request)
        if action.peer in self.to_worker and not self._lost():
            self.to_worker[action.peer].append(message)

    def hear(self, name: bytes) -> None:
        """Let the coordinator take in the next message of a worker."""
        message = self.from_worker[name].popleft()
        if self._lost():
            return
        before = {number: list(entry.committed) for number, entry in self.booking._entries.items()}
        self.act(self.booking.worker_said(name, message, self.now))
        for number, entry in self.booking._entries.items():
            known = before.get(number, [])
            assert entry.committed[: len(known)] == known, "committed tokens only grow"

    def turn(self) -> None:
        """Take one random turn."""
        self.rng.choices(self._turns, self._paces)[0]()
        self.check()

    def settle(self, turns: int = 100_000) -> None:
        """Take turns until every request has ended."""
        for _ in range(turns):
            if not self.booking._entries:
                return
            self.turn()
        raise AssertionError("a request never ended")

    def check(self) -> None:
        """Hold the bounds of tries, drafts and lanes."""
        if self.drafter:
            _check_drafter(self.drafter.mind)
        if self.verifier:
            _check_verifier(self.verifier.mind)

    def _drafter_turn(self) -> None:
        if self.drafter:
            self.edges += self.drafter.work()

    def _verifier_turn(self) -> None:
        if self.verifier:
            for verdict in self.verifier.work(self.now):
                self.from_worker[self.verifier.name].append(verdict)
                self.verdicts.append(verdict)

    def _drafter_hears(self) -> None:
        if self.drafter and self.to_worker[self.drafter.name]:
            message = self.to_worker[self.drafter.name].popleft()
            self._heed(self.drafter.name, message)
            self.edges += self.drafter.mind.handle(message)

    def _verifier_hears(self) -> None:
        if self.verifier and self.to_worker[self.verifier.name]:
            message = self.to_worker[self.verifier.name].popleft()
            self._heed(self.verifier.name, message)
            self.from_worker[self.verifier.name].extend(self.verifier.mind.handle(message, self.now))

    def _heed(self, name: bytes, message: Message) -> None:
        """Do what a worker's loop does, rather than its mind."""
        assert not isinstance(message, Stop), "nobody is sent home from a place that is free"
        if isinstance(message, Greet):
            self.from_worker[name].append(self._hellos[name])
        elif isinstance(message, Peer) and message.edges != self._peer:
            self._peer, self.edges, self.verdicts = message.edges, [], []

    def _worker_beats(self) -> None:
        """Let workers beat, as they do when they have heard all that came; beats are seldom two on their way."""
        for role, desk in (("drafter", self.drafter), ("verifier", self.verifier)):
            if desk and not self.to_worker[desk.name] and len(self.from_worker[desk.name]) < 3:
                beat = pulse("drafter" if role == "drafter" else "verifier", desk.mind.standing, peer=self._peer)
                self.from_worker[desk.name].append(beat)

    def _joined(self) -> bool:
        """Whether the drafter has been told of the verifier that is there."""
        return self.verifier is not None and self._peer == self._hellos[self.verifier.name].edges

    def _lost(self) -> bool:
        return self.rng.random() < self.control_loss

    def _coordinator_hears(self) -> None:
        ready = [name for name, queue in self.from_worker.items() if queue]
        if ready:
            self.hear(self.rng.choice(ready))

    def _edges_arrive(self) -> None:
        if self.verifier and (message := self._taken(self.edges)) and self._joined():
            self.verdicts += self.verifier.mind.handle(message, self.now)

    def _verdict_arrives(self) -> None:
        if self.drafter and (message := self._taken(self.verdicts)) and self._joined():
            self.edges += self.drafter.mind.handle(message)

    def _taken(self, queue: list[Message]) -> Message | None:
        """Take a message: any of the oldest few, perhaps leaving it to come again, perhaps losing it."""
        if not queue:
            return None
        at = self.rng.randrange(min(len(queue), 4)) if self.loss else 0
        message = queue[at]
        if self.rng.random() >= self.loss / 2:
            del queue[at]
        return None if self.rng.random() < self.loss else message

    def _time_passes(self) -> None:
        self.now += self.rng.choice([0.001, 0.01, 0.1])


def _check_drafter(mind: Drafting) -> None:
    lanes = [draft.lane for draft in mind._drafts.values()] + mind._lanes
    assert sorted(lanes) == list(range(LANES)), "a lane was lost or given twice"
    for draft in mind._drafts.values():
        assert len(draft.trie) <= draft.trie.capacity
        assert len(set(draft.slots.values())) == len(draft.slots), "two prefixes share a slot"
        assert set(draft.slots) <= set(draft.hashes) | set(draft.trie._nodes), "a dead prefix keeps its slot"
        assert draft.expanded | set(draft.guesses) <= set(draft.trie._nodes), "something is kept of a dead prefix"


def _check_verifier(mind: Verifying) -> None:
    lanes = [check.lane for check in mind._checks.values()] + mind._lanes
    assert sorted(lanes) == list(range(LANES)), "a lane was lost or given twice"
    for check in mind._checks.values():
        assert len(check.drafted) <= check.drafted.capacity


def text(row: Row) -> tuple[int, ...]:
    """Return the whole text that a drafter's row stands for."""
    if row.node is None:
        return tuple(row.draft.tokens[: row.position + 1])
    return (*row.draft.tokens, *(node.token for node in row.draft.path(row.node)))


def texts_of(work: Work) -> list[tuple[int, ...]]:
    """Return the whole text of each row of a verifier's batch."""
    if not isinstance(work, Pass):
        return [tuple(work.check.tokens[: position + 1]) for position in work.batch.positions.tolist()]
    return [(*check.tokens, *path) for check, path in zip(work.checks, work.drafted, strict=True)]


def proposals(step: Step, w: Sequence[float] = W) -> Proposals:
    """Return what the simulated draft says of a step."""
    rows = len(step.rows)
    return Proposals(
        np.array([planted.choices(row.prefix, len(w)) for row in step.rows], np.int64),
        np.tile(np.array([log(share) for share in w], np.float32), (rows, 1)),
        np.tile(np.array([1.0, *(2.0 for _ in w[1:])], np.float32), (rows, 1)),
    )


def drafts(mind: Drafting) -> list[Draft]:
    """Return the drafts that are open."""
    return list(mind._drafts.values())


def ends(messages: Sequence[Message]) -> list[Message]:
    """Return the terminal messages among those of one request."""
    return [message for message in messages if isinstance(message, Finished | Failed)]


def tokens_told(messages: Sequence[Message]) -> list[int]:
    """Return the token ids that a client was told."""
    return [token for message in messages if isinstance(message, Delta) for token in message.tokens.tolist()]


def text_told(messages: Sequence[Message]) -> str:
    """Return the text that a client was told."""
    return "".join(message.text for message in messages if isinstance(message, Delta))
