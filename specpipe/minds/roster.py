"""Which workers are there, and whether two of them fit together."""

from dataclasses import dataclass, field

from specpipe.words.messages import Hello, Peer, Pulse, WorkerStatus

ROLES = ("verifier", "drafter")
# Four beats: who was heard of since then lives, and nobody else may take its place. A successor needs longer to start.
ALIVE_S = 1.0
# How long after a process ended its last words may still arrive.
BURIED_S = 10.0


@dataclass(slots=True)
class Worker:
    """One worker that has said hello, and was last heard of at `heard`.

    `missing` are the requests that it should have and did not name in its last pulse.
    """

    peer: bytes
    hello: Hello
    heard: float
    counter: int = 0
    dropped: int = 0
    beats: int = 0
    missing: set[int] = field(default_factory=set)

    def introduction(self) -> Peer:
        """Return where the drafter finds this verifier."""
        return Peer(edges=self.hello.edges, verdicts=self.hello.verdicts)


class Roster:
    """The workers by role; a new one of the same role replaces one that has left or gives no more signs of life."""

    def __init__(self) -> None:
        self._workers: dict[str, Worker] = {}
        self._suitors: dict[str, dict[bytes, float]] = {role: {} for role in ROLES}
        self._buried: dict[int, float] = {}

    def objection(self, hello: Hello) -> str | None:
        """Return why a worker cannot work with the other one, if so."""
        other = self._workers.get("drafter" if hello.role == "verifier" else "verifier")
        if other is None or _same_tokenizer(hello, other.hello):
            return None
        return f"the tokenizers of {hello.model} and {other.hello.model} differ in their contents"

    def enter(self, peer: bytes, hello: Hello, now: float) -> bool:
        """Give a worker its place; return False where it has that already, or must wait, or is known to have ended.

        It waits while another one that has the place may be alive: see `rejected`.
        """
        present = self._workers.get(hello.role)
        if (present and present.peer == peer) or now < self._buried.get(hello.pid, 0.0):
            return False
        if present and now < present.heard + ALIVE_S:
            self._suitors[hello.role].setdefault(peer, now)
            return False
        self._workers[hello.role] = Worker(peer, hello, now)
        self._suitors[hello.role].clear()
        return True

    def leave(self, role: str, pid: int, now: float) -> None:
        """Forget the worker whose process `pid` has ended; its successor keeps the place if it has it already."""
        self._buried = {each: until for each, until in self._buried.items() if now < until}
        self._buried[pid] = now + BURIED_S
        present = self._workers.get(role)
        if present and present.hello.pid == pid:
            del self._workers[role]

    def rejected(self, role: str) -> list[bytes]:
        """Return, once, those who wait for a place whose holder was still heard of a while after they came."""
        present, suitors = self._workers.get(role), self._suitors[role]
        lost = [peer for peer, since in suitors.items() if present and present.heard >= since + ALIVE_S]
        for peer in lost:
            del suitors[peer]
        return lost

    def get(self, role: str) -> Worker | None:
        """Return the worker of a role."""
        return self._workers.get(role)

    def all(self) -> list[Worker]:
        """Return all workers, the drafter first."""
        return [worker for role in ("drafter", "verifier") if (worker := self._workers.get(role))]

    def is_from(self, role: str, peer: bytes) -> bool:
        """Whether `peer` is the worker that has this role now."""
        worker = self._workers.get(role)
        return worker is not None and worker.peer == peer

    def pulse(self, peer: bytes, pulse: Pulse, now: float) -> Worker | None:
        """Note a sign of life and return whose it is, None if of nobody who has the role."""
        if not self.is_from(pulse.role, peer):
            return None
        worker = self._workers[pulse.role]
        worker.counter, worker.dropped, worker.heard = pulse.counter, pulse.dropped, now
        worker.beats += 1
        return worker

    def statuses(self) -> tuple[WorkerStatus, ...]:
        """Return every role's status."""
        return tuple(_status(role, self._workers.get(role)) for role in ROLES)


def _same_tokenizer(hello: Hello, other: Hello) -> bool:
    return not hello.fingerprint or not other.fingerprint or hello.fingerprint == other.fingerprint


def _status(role: str, worker: Worker | None) -> WorkerStatus:
    if worker is None:
        return WorkerStatus(role=role, ready=False)
    hello = worker.hello
    return WorkerStatus(
        role=role,
        ready=True,
        pid=hello.pid,
        model=hello.model,
        device=hello.device,
        dtype=hello.dtype,
        threads=hello.threads,
        counter=worker.counter,
        beats=worker.beats,
    )
