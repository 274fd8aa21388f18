"""Which workers are there, and whether two of them fit together."""

from dataclasses import dataclass

from specpipe.words.messages import Hello, Peer, Pulse, WorkerStatus

ROLES = ("verifier", "drafter")
# Four beats: who was heard of since then lives, and nobody else may take its place. A successor needs longer to start.
ALIVE_S = 1.0


@dataclass(slots=True)
class Worker:
    """One worker that has said hello, and was last heard of at `heard`."""

    peer: bytes
    hello: Hello
    heard: float
    counter: int = 0
    dropped: int = 0


class Roster:
    """The workers by role; a new one of the same role replaces one that has left or gives no more signs of life."""

    def __init__(self) -> None:
        self._workers: dict[str, Worker] = {}

    def enter(self, peer: bytes, hello: Hello, now: float) -> str | None:
        """Take in a worker; return a sentence instead if its place is taken or it cannot work with the other one."""
        present = self._workers.get(hello.role)
        if present and present.peer != peer and now < present.heard + ALIVE_S:
            return f"there is a {hello.role} already, process {present.hello.pid}"
        other = self._workers.get("drafter" if hello.role == "verifier" else "verifier")
        if other and not _same_tokenizer(hello, other.hello):
            return f"the tokenizers of {hello.model} and {other.hello.model} differ in their contents"
        self._workers[hello.role] = Worker(peer, hello, now)
        return None

    def leave(self, role: str) -> None:
        """Forget a worker."""
        self._workers.pop(role, None)

    def get(self, role: str) -> Worker | None:
        """Return the worker of a role."""
        return self._workers.get(role)

    def is_from(self, role: str, peer: bytes) -> bool:
        """Whether `peer` is the worker that has this role now."""
        worker = self._workers.get(role)
        return worker is not None and worker.peer == peer

    def pulse(self, peer: bytes, pulse: Pulse, now: float) -> None:
        """Note a sign of life."""
        if self.is_from(pulse.role, peer):
            worker = self._workers[pulse.role]
            worker.counter, worker.dropped, worker.heard = pulse.counter, pulse.dropped, now

    def introduction(self) -> Peer | None:
        """Return where the drafter finds the verifier, once that is known."""
        verifier = self._workers.get("verifier")
        return Peer(edges=verifier.hello.edges, verdicts=verifier.hello.verdicts) if verifier else None

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
    )
