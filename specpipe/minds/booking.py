"""The coordinator's mind: admits requests, places them, keeps what was committed, and ends each exactly once."""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Literal

from specpipe.errors import RequestError
from specpipe.minds import measures
from specpipe.minds.actions import Action, ToClient, ToWorker
from specpipe.minds.entry import Entry, Texts, written
from specpipe.minds.fitting import unfit
from specpipe.minds.measures import Busy, Tally
from specpipe.minds.mending import mend
from specpipe.minds.roster import Roster, Worker
from specpipe.minds.totals import Totals
from specpipe.words.messages import (
    Ask,
    Cancel,
    Close,
    Failed,
    Finished,
    Gone,
    Greet,
    Halt,
    Hello,
    Look,
    Message,
    Open,
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


class Booking:
    """Told what workers and clients said, says what to send to whom."""

    def __init__(self, texts: Texts, waiting: int, draw_seed: Callable[[], int]) -> None:
        self.roster = Roster()
        self._texts = texts
        self._most_waiting = waiting
        self._draw_seed = draw_seed
        self._entries: dict[int, Entry] = {}
        self._waiting: deque[Entry] = deque()
        self._busy = Busy()
        self._numbers = 0
        self._totals = Totals()
        self._bereft = False
        self.halted = False

    def worker_said(self, peer: bytes, message: Message, now: float) -> list[Action]:
        """Take in what came over the control link."""
        match message:
            case Hello():
                return self._meet(peer, message, now)
            case Pulse():
                return self._feel(peer, message, now)
            case Gone():
                return self._mourn(message, now)
            case Halt():
                return self.halt()
            case Look():
                return [ToWorker(peer, self._status())]
        return self._hear(peer, message, now)

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

    def halt(self) -> list[Action]:
        """End every request and send the workers home."""
        self.halted = True
        return [*self._end_all("the instance ends"), *(ToWorker(each.peer, Stop()) for each in self.roster.all())]

    def _hear(self, peer: bytes, message: Message, now: float) -> list[Action]:
        """Take in what only the worker of a role may say."""
        match message:
            case Verdict() if self.roster.is_from("verifier", peer):
                return self._judge(message, now)
            case Unserved() if self.roster.is_from("verifier", peer):
                return self._fail(message.request, _ENGINE_FAULT, now)
            case Unserved() if self.roster.is_from("drafter", peer) and message.request in self._entries:
                self._entries[message.request].drafted = False
            case Steps() if self.roster.is_from("drafter", peer):
                self._busy.add(zip(message.began.tolist(), message.ended.tolist(), strict=True), message.edges)
        return []

    def _status(self) -> Status:
        return self._totals.status(self.roster, len(self._entries), halted=self.halted)

    def _ask(self, peer: bytes, ask: Ask, now: float) -> list[Action]:
        if self.halted:
            return [ToClient(peer, Failed(key=ask.key, kind="busy", reason="the instance ends"))]
        if self._bereft:
            return [ToClient(peer, Failed(key=ask.key, kind="failed", reason=_ENGINE_FAULT))]
        if len(self._waiting) >= self._most_waiting and not self._free():
            return [ToClient(peer, Failed(key=ask.key, kind="busy", reason="too many requests wait; try again later"))]
        try:
            prompt, text = self._prompt(ask), self._texts.text(ask.stop)
        except RequestError as error:
            return [ToClient(peer, Failed(key=ask.key, kind="refused", reason=str(error)))]
        self._numbers += 1
        seed = ask.sampling.seed if ask.seeded else self._draw_seed()
        entry = self._entries[self._numbers] = Entry(self._numbers, peer, ask, prompt, seed=seed, text=text)
        self._waiting.append(entry)
        return self._admit(now)

    def _prompt(self, ask: Ask) -> list[int]:
        prompt = self._texts.prompt(ask)
        if not prompt:
            raise RequestError("the prompt is empty: say something to be answered")
        return prompt

    def _admit(self, now: float) -> list[Action]:
        actions: list[Action] = []
        while self._waiting and (verifier := self._free()):
            actions += self._start(self._waiting.popleft(), verifier, now)
        return actions

    def _free(self) -> Hello | None:
        """Return what is known of the verifier, if it has a lane left."""
        verifier = self.roster.get("verifier")
        running = sum(entry.running for entry in self._entries.values())
        return verifier.hello if verifier and running < verifier.hello.lanes else None

    def _start(self, entry: Entry, verifier: Hello, now: float) -> list[Action]:
        if reason := unfit(entry, verifier, self._texts.stop_tokens):
            return self._end(entry, "refused", reason)
        entry.tally = Tally(now)
        started = Started(key=entry.ask.key, seed=entry.seed, prompt_tokens=len(entry.prompt))
        return [ToClient(entry.client, started), *self._open(entry, self.roster.all())]

    def _open(self, entry: Entry, to: Sequence[Worker]) -> list[Action]:
        opening = self._opening(entry)
        entry.drafted = True
        return [ToWorker(worker.peer, opening) for worker in to if opening and _wants(worker, entry)]

    def _opening(self, entry: Entry) -> Open | None:
        verifier = self.roster.get("verifier")
        if verifier is None:
            return None
        return entry.opening(verifier.hello.context - len(entry.prompt), self._texts.stop_tokens)

    def _meet(self, peer: bytes, hello: Hello, now: float) -> list[Action]:
        refusal = "the instance ends" if self.halted else self.roster.objection(hello)
        if refusal is not None:
            return [ToWorker(peer, Stop(reason=refusal))]
        return self._welcome(hello, now) if self.roster.enter(peer, hello, now) else []

    def _welcome(self, hello: Hello, now: float) -> list[Action]:
        """Give a new worker all that is running, on a new verifier in a new life."""
        drafter, verifier = self.roster.get("drafter"), self.roster.get("verifier")
        actions: list[Action] = []
        if drafter and verifier:
            actions.append(ToWorker(drafter.peer, verifier.introduction()))
        running = [entry for entry in self._entries.values() if entry.running]
        if hello.role == "drafter":
            return actions + [act for entry in running for act in self._open(entry, [drafter] if drafter else [])]
        self._bereft = False
        return actions + [act for entry in running for act in self._reopen(entry, hello)] + self._admit(now)

    def _reopen(self, entry: Entry, hello: Hello) -> list[Action]:
        """Resume a request on a new verifier, in a new life."""
        if unfit(entry, hello, self._texts.stop_tokens):
            return self._end(entry, "failed", _ENGINE_FAULT)
        entry.life += 1
        return self._open(entry, self.roster.all())

    def _feel(self, peer: bytes, pulse: Pulse, now: float) -> list[Action]:
        """Take a sign of life; whatever it shows to have been lost is sent again."""
        worker = self.roster.pulse(peer, pulse, now)
        if worker is None or self.halted:
            return [ToWorker(peer, Stop() if self.halted else Greet())]
        actions: list[Action] = [ToWorker(each, _taken(worker)) for each in self.roster.rejected(pulse.role)]
        verifier = self.roster.get("verifier")
        if verifier and pulse.role == "drafter" and pulse.peer != verifier.hello.edges:
            actions.append(ToWorker(peer, verifier.introduction()))
        wanted = {number: entry for number, entry in self._entries.items() if entry.running and _wants(worker, entry)}
        return actions + [ToWorker(peer, message) for message in mend(worker, pulse, wanted, self._opening)]

    def _mourn(self, gone: Gone, now: float) -> list[Action]:
        self.roster.leave(gone.role, gone.pid, now)
        if gone.role == "drafter" or not gone.final:
            return []
        self._bereft = True
        return self._end_all(_ENGINE_FAULT)

    def _judge(self, verdict: Verdict, now: float) -> list[Action]:
        entry = self._entries.get(verdict.request)
        if entry is None or entry.tally is None or verdict.life != entry.life:
            return []
        fresh = entry.news(verdict)
        if fresh is None:
            verifier = self.roster.get("verifier")
            recall = Recall(request=entry.number, start=len(entry.committed))
            return [ToWorker(verifier.peer, recall)] if verifier else []
        if fresh and verdict.ended > verdict.began:
            entry.tally.add(verdict, now)
            self._totals.count(verdict)
        return self._write(entry, verdict, fresh, now)

    def _write(self, entry: Entry, verdict: Verdict, fresh: list[int], now: float) -> list[Action]:
        words, taken = written(entry.text, fresh)
        ended = bool(verdict.finish) or entry.text.stopped
        words += entry.text.finish() if ended else ""
        actions: list[Action] = []
        if words or taken:
            actions.append(ToClient(entry.client, entry.delta(verdict, words, taken)))
        entry.committed += fresh[:taken]
        self._totals.tokens += taken
        return actions + (self._finish(entry, verdict.finish, now) if ended else [])

    def _finish(self, entry: Entry, finish: str, now: float) -> list[Action]:
        self._totals.finished += 1
        finished = Finished(
            key=entry.ask.key,
            finish_reason="length" if finish == "length" and not entry.text.stopped else "stop",
            seed=entry.seed,
            prompt_tokens=len(entry.prompt),
            completion_tokens=len(entry.committed),
            stats=measures.stats(entry.tally, self._busy, now) if entry.tally else Stats(),
        )
        return [ToClient(entry.client, finished), *self._forget(entry), *self._admit(now)]

    def _fail(self, number: int, reason: str, now: float) -> list[Action]:
        entry = self._entries.get(number)
        return [*self._end(entry, "failed", reason), *self._admit(now)] if entry else []

    def _end(self, entry: Entry, kind: Literal["refused", "failed"], reason: str) -> list[Action]:
        self._totals.failed += 1
        return [ToClient(entry.client, Failed(key=entry.ask.key, kind=kind, reason=reason)), *self._forget(entry)]

    def _end_all(self, reason: str) -> list[Action]:
        return [act for entry in list(self._entries.values()) for act in self._end(entry, "failed", reason)]

    def _cancel(self, peer: bytes, key: int, now: float) -> list[Action]:
        named = [number for number, entry in self._entries.items() if (entry.client, entry.ask.key) == (peer, key)]
        return [act for number in named for act in self._fail(number, "cancelled by the client", now)]

    def _drop(self, entries: Sequence[Entry], now: float) -> list[Action]:
        self._totals.failed += len(entries)
        actions = [act for entry in entries for act in self._forget(entry)]
        return actions + self._admit(now)

    def _forget(self, entry: Entry) -> list[Action]:
        del self._entries[entry.number]
        if entry in self._waiting:
            self._waiting.remove(entry)
        if not entry.running:
            return []
        return [ToWorker(worker.peer, Close(request=entry.number)) for worker in self.roster.all()]


def _wants(worker: Worker, entry: Entry) -> bool:
    """Whether a running request should be open there."""
    return worker.hello.role == "verifier" or (entry.drafted and entry.ask.mode != "target")


def _taken(worker: Worker) -> Stop:
    return Stop(reason=f"there is a {worker.hello.role} already, process {worker.hello.pid}")
