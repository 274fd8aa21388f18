"""The coordinator's mind: admits requests, places them, keeps what was committed, and ends each exactly once."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from specpipe import __version__
from specpipe.errors import RequestError
from specpipe.minds import measures
from specpipe.minds.entry import Entry, Text, written
from specpipe.minds.measures import Busy, Tally
from specpipe.minds.roster import Roster
from specpipe.words.messages import (
    Ask,
    Cancel,
    Close,
    Delta,
    Failed,
    Finished,
    Gone,
    Halt,
    Hello,
    Look,
    Message,
    Pulse,
    Recall,
    Started,
    Stats,
    Status,
    Steps,
    Stop,
    Unserved,
    Verdict,
)

_ENGINE_FAULT = "the engine could not go on with this request; its log says why"


@dataclass(frozen=True, slots=True)
class ToWorker:
    """Send over the control link."""

    peer: bytes
    message: Message


@dataclass(frozen=True, slots=True)
class ToClient:
    """Send to a client; one that cannot be reached gives up its request."""

    peer: bytes
    message: Message


Action = ToWorker | ToClient


class Texts(Protocol):
    """What the coordinator needs of the target's tokenizer."""

    @property
    def stop_tokens(self) -> frozenset[int]:
        """The tokens that end an answer."""
        ...

    def prompt(self, ask: Ask) -> list[int]:
        """Return the prompt's ids; raise `RequestError`."""
        ...

    def text(self, stops: tuple[str, ...]) -> Text:
        """Return a fresh text for one answer."""
        ...


class Booking:
    """Told what workers and clients said, says what to send to whom."""

    def __init__(self, texts: Texts, waiting: int, draw_seed: Callable[[], int]) -> None:
        self.roster = Roster()
        self._texts = texts
        self._most_waiting = waiting
        self._draw_seed = draw_seed
        self._entries: dict[int, Entry] = {}
        self._written: dict[int, Text] = {}
        self._waiting: deque[Entry] = deque()
        self._busy = Busy()
        self._numbers = 0
        self._totals = {"finished": 0, "failed": 0, "tokens": 0, "passes": 0, "checked": 0, "accepted": 0}
        self.halted = False

    def worker_said(self, peer: bytes, message: Message, now: float) -> list[Action]:
        """Take in what came over the control link."""
        match message:
            case Hello():
                return self._welcome(peer, message, now)
            case Verdict() if self.roster.is_from("verifier", peer):
                return self._judge(message, now)
            case Steps() if self.roster.is_from("drafter", peer):
                self._busy.add(zip(message.began.tolist(), message.ended.tolist(), strict=True), message.edges)
            case Pulse():
                self.roster.pulse(peer, message)
            case Unserved() if self.roster.is_from("verifier", peer):
                return self._fail(message.request, "failed", _ENGINE_FAULT, now)
            case Gone():
                return self._mourn(message, now)
            case Halt():
                return self.halt(now)
        return []

    def client_said(self, peer: bytes, message: Message, now: float) -> list[Action]:
        """Take in what a client sent."""
        match message:
            case Ask():
                return self._ask(peer, message, now)
            case Cancel():
                return self._cancel(peer, message.key, now)
            case Look():
                return [ToClient(peer, self._status())]
        return []

    def client_lost(self, peer: bytes, now: float) -> list[Action]:
        """Give up all requests of a client that cannot be reached."""
        return self._drop([entry for entry in self._entries.values() if entry.client == peer], now)

    def halt(self, now: float) -> list[Action]:
        """End every request and send the workers home."""
        self.halted = True
        actions = [
            act for number in list(self._entries) for act in self._fail(number, "failed", "the instance ends", now)
        ]
        workers = [worker for role in ("drafter", "verifier") if (worker := self.roster.get(role))]
        return actions + [ToWorker(worker.peer, Stop()) for worker in workers]

    def _ask(self, peer: bytes, ask: Ask, now: float) -> list[Action]:
        if self.halted:
            return [ToClient(peer, Failed(key=ask.key, kind="busy", reason="the instance ends"))]
        if len(self._waiting) >= self._most_waiting:
            return [ToClient(peer, Failed(key=ask.key, kind="busy", reason="too many requests wait; try again later"))]
        try:
            prompt = self._prompt(ask)
        except RequestError as error:
            return [ToClient(peer, Failed(key=ask.key, kind="refused", reason=str(error)))]
        self._numbers += 1
        seed = ask.sampling.seed if ask.seeded else self._draw_seed()
        entry = self._entries[self._numbers] = Entry(self._numbers, peer, ask, prompt, seed)
        self._waiting.append(entry)
        return self._admit(now)

    def _prompt(self, ask: Ask) -> list[int]:
        prompt = self._texts.prompt(ask)
        if not prompt:
            raise RequestError("the prompt is empty: say something to be answered")
        return prompt

    def _admit(self, now: float) -> list[Action]:
        verifier = self.roster.get("verifier")
        actions: list[Action] = []
        while verifier and self._waiting and self._running() < verifier.hello.lanes:
            entry = self._waiting.popleft()
            actions += self._start(entry, verifier.hello, now)
        return actions

    def _running(self) -> int:
        return sum(entry.running for entry in self._entries.values())

    def _start(self, entry: Entry, verifier: Hello, now: float) -> list[Action]:
        reason = _unfit(entry.prompt, verifier)
        if reason:
            return self._fail(entry.number, "refused", reason, now)
        entry.tally = Tally(now)
        self._written[entry.number] = self._texts.text(entry.ask.stop)
        started = Started(key=entry.ask.key, seed=entry.seed, prompt_tokens=len(entry.prompt))
        return [ToClient(entry.client, started), *self._open(entry)]

    def _open(self, entry: Entry, roles: Sequence[str] = ("drafter", "verifier")) -> list[Action]:
        verifier = self.roster.get("verifier")
        if verifier is None:
            return []
        opening = entry.opening(verifier.hello.context - len(entry.prompt), self._texts.stop_tokens)
        wanted = [role for role in roles if role == "verifier" or entry.ask.mode != "target"]
        return [ToWorker(worker.peer, opening) for role in wanted if (worker := self.roster.get(role))]

    def _welcome(self, peer: bytes, hello: Hello, now: float) -> list[Action]:
        if self.halted or self.roster.enter(peer, hello) is not None:
            return [ToWorker(peer, Stop())]
        drafter = self.roster.get("drafter")
        introduction = self.roster.introduction()
        actions: list[Action] = [ToWorker(drafter.peer, introduction)] if drafter and introduction else []
        running = [entry for entry in self._entries.values() if entry.running]
        if hello.role == "drafter":
            return actions + [act for entry in running for act in self._open(entry, ["drafter"])]
        for entry in running:
            entry.life += 1
            actions += self._open(entry)
        return actions + self._admit(now)

    def _mourn(self, gone: Gone, now: float) -> list[Action]:
        self.roster.leave(gone.role)
        if gone.role == "drafter" or not gone.final:
            return []
        return [act for number in list(self._entries) for act in self._fail(number, "failed", _ENGINE_FAULT, now)]

    def _judge(self, verdict: Verdict, now: float) -> list[Action]:
        entry = self._entries.get(verdict.request)
        if entry is None or entry.tally is None or verdict.life != entry.life:
            return []
        fresh = entry.news(verdict)
        if fresh is None:
            verifier = self.roster.get("verifier")
            recall = Recall(request=entry.number, start=len(entry.committed))
            return [ToWorker(verifier.peer, recall)] if verifier else []
        if verdict.ended > verdict.began:
            entry.tally.add(verdict, now)
            self._count(verdict)
        return self._write(entry, fresh, verdict.finish, now)

    def _write(self, entry: Entry, fresh: list[int], finish: str, now: float) -> list[Action]:
        text = self._written[entry.number]
        words, taken = written(text, fresh)
        entry.committed += fresh[:taken]
        self._totals["tokens"] += taken
        ended = bool(finish) or text.stopped
        words += text.finish() if ended else ""
        actions: list[Action] = []
        if words or taken:
            delta = Delta(key=entry.ask.key, text=words, tokens=np.array(fresh[:taken], np.int32))
            actions.append(ToClient(entry.client, delta))
        return actions + (self._finish(entry, finish, stopped=text.stopped, now=now) if ended else [])

    def _finish(self, entry: Entry, finish: str, *, stopped: bool, now: float) -> list[Action]:
        self._totals["finished"] += 1
        finished = Finished(
            key=entry.ask.key,
            finish_reason="length" if finish == "length" and not stopped else "stop",
            seed=entry.seed,
            prompt_tokens=len(entry.prompt),
            completion_tokens=len(entry.committed),
            stats=measures.stats(entry.tally, self._busy, now) if entry.tally else Stats(),
        )
        return [ToClient(entry.client, finished), *self._forget(entry), *self._admit(now)]

    def _fail(self, number: int, kind: str, reason: str, now: float) -> list[Action]:
        entry = self._entries.get(number)
        if entry is None:
            return []
        self._totals["failed"] += 1
        failed = Failed(key=entry.ask.key, kind="refused" if kind == "refused" else "failed", reason=reason)
        actions: list[Action] = [ToClient(entry.client, failed), *self._forget(entry)]
        return actions if self.halted else actions + self._admit(now)

    def _cancel(self, peer: bytes, key: int, now: float) -> list[Action]:
        named = [number for number, entry in self._entries.items() if (entry.client, entry.ask.key) == (peer, key)]
        return [act for number in named for act in self._fail(number, "failed", "cancelled by the client", now)]

    def _drop(self, entries: Sequence[Entry], now: float) -> list[Action]:
        self._totals["failed"] += len(entries)
        actions = [act for entry in entries for act in self._forget(entry)]
        return actions + self._admit(now)

    def _forget(self, entry: Entry) -> list[Action]:
        del self._entries[entry.number]
        self._written.pop(entry.number, None)
        if entry in self._waiting:
            self._waiting.remove(entry)
        if not entry.running:
            return []
        workers = [worker for role in ("drafter", "verifier") if (worker := self.roster.get(role))]
        return [ToWorker(worker.peer, Close(request=entry.number)) for worker in workers]

    def _count(self, verdict: Verdict) -> None:
        self._totals["passes"] += 1
        self._totals["checked"] += verdict.checked
        self._totals["accepted"] += min(len(verdict.tokens) - 1, verdict.chain)

    def _status(self) -> Status:
        workers = self.roster.statuses()
        return Status(
            version=__version__,
            serving=self.roster.get("verifier") is not None and not self.halted,
            open_requests=len(self._entries),
            finished_requests=self._totals["finished"],
            failed_requests=self._totals["failed"],
            committed_tokens=self._totals["tokens"],
            passes=self._totals["passes"],
            checked_tokens=self._totals["checked"],
            accepted_tokens=self._totals["accepted"],
            dropped_frames=sum(worker.dropped for role in ("drafter", "verifier") if (worker := self.roster.get(role))),
            workers=workers,
        )


def _unfit(prompt: Sequence[int], verifier: Hello) -> str | None:
    if len(prompt) >= verifier.context:
        return f"the prompt has {len(prompt)} tokens and must have fewer than the context of {verifier.context}"
    if max(prompt) >= verifier.vocabulary:
        return f"the prompt has token {max(prompt)}, beyond the model's vocabulary of {verifier.vocabulary}"
    return None
