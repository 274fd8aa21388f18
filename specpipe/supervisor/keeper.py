"""Keeps the processes of an instance alive, from the first start to the last end, in a thread of its own."""

import threading
from collections.abc import Callable
from typing import Protocol

from specpipe.clock import now
from specpipe.errors import BusyError, PeerError, SpecpipeError, UsageError, WorkerError
from specpipe.supervisor.child import Child
from specpipe.supervisor.crew import Crew
from specpipe.supervisor.events import Event, GivenUp, Ready, Restarting
from specpipe.supervisor.ladder import Patience, descend
from specpipe.supervisor.policy import Death, EndAll, GoOnWithout, Restart, RestartPolicy, Role
from specpipe.supervisor.watch import Watch
from specpipe.words.messages import Status

_TURN_S = 0.1
_KINDS: dict[int, type[SpecpipeError]] = {64: UsageError, 69: PeerError, 75: BusyError}


class Herald(Protocol):
    """Speaks to the coordinator for the supervisor."""

    def meet(self, coordinator: Child) -> None:
        """Connect to a coordinator that has just become ready."""
        ...

    def gone(self, child: Child, reason: str, *, final: bool) -> None:
        """Say that a worker's process ended; `final` when its role will not be started again."""
        ...

    def look(self) -> Status | None:
        """Ask how all are; return the latest answer that has come since the last time."""
        ...

    def halt(self) -> bool:
        """Ask the instance to end; return whether a coordinator was there to be asked."""
        ...

    def close(self) -> None:
        """Hang up."""
        ...


class Keeper:
    """Starts the coordinator, then the workers; watches all; ends all.

    `roles` are those to keep. `on_served` is called once, when all are ready for the first time.
    `over` is set when it has begun to end them; `failure` is why, None if it was asked to.
    """

    def __init__(
        self,
        crew: Crew,
        roles: tuple[Role, ...],
        herald: Herald,
        *,
        report: Callable[[Event], None],
        on_served: Callable[[], None],
        policy: RestartPolicy,
        patience: Patience,
        watch: Watch,
    ) -> None:
        self._crew = crew
        self._roles = roles
        self._herald = herald
        self._report = report
        self._on_served = on_served
        self._policy = policy
        self._patience = patience
        self._watch = watch
        self._next_look = 0.0
        self._answers = 0
        self._awaited = set(roles)
        self._due: dict[Role, float] = {}
        self._asked = threading.Event()
        self._hurry = threading.Event()
        self.served = threading.Event()
        self.over = threading.Event()
        self.failure: SpecpipeError | None = None

    def ask_to_end(self, *, at_once: bool = False) -> None:
        """Have all processes ended in an orderly way, or killed at once; may be called from anywhere."""
        if at_once:
            self._hurry.set()
        self._asked.set()

    def run(self) -> None:
        """Keep the instance until it is asked to end or cannot go on; no child is left when this returns."""
        try:
            self._crew.start("coordinator")
            while not self._asked.is_set():
                self._turn()
        except SpecpipeError as error:
            self.failure = error
        except Exception as error:  # noqa: BLE001 - raised again by whoever asks how the instance ended
            self.failure = WorkerError(f"the supervisor failed: {error!r}")
            self.failure.__cause__ = error
        finally:
            self.over.set()
            descend(self._crew, self._halt, self._hurry, self._patience)
            self._herald.close()
            self._crew.close()

    def _turn(self) -> None:
        self._crew.pump(_TURN_S)
        for child in self._crew.readied():
            self._welcome(child)
        for child in self._crew.ended():
            self._mourn(child)
        for child in self._crew:
            self._check_patience(child)
        if self._watch.limit_s and now() >= self._next_look:
            self._next_look = now() + self._watch.every_s
            self._look()
        self._start_due()

    def _welcome(self, child: Child) -> None:
        self._report(Ready(child.role, child.pid, now() - child.born, child.ready or {}))
        self._awaited.discard(child.role)
        if child.role == "coordinator":
            self._herald.meet(child)
            for role in self._roles:
                if role not in self._crew:
                    self._crew.start(role)
        if not self._awaited and not self.served.is_set():
            self._on_served()
            self.served.set()

    def _mourn(self, child: Child) -> None:
        death = Death(child.role, child.status or 0, child.reason(), now())
        served = self.served.is_set()
        decision = self._policy.ended(death, served=served)
        self._herald.gone(child, death.reason, final=not isinstance(decision, Restart))
        match decision:
            case Restart(after_s):
                self._report(Restarting(child.role, death.reason, after_s))
                self._due[child.role] = now() + after_s
            case GoOnWithout():
                self._report(GivenUp(child.role, death.reason))
            case EndAll():
                raise _failure(death, decision, served=served)

    def _look(self) -> None:
        """Kill those that serve and give no sign of life; what the coordinator does not answer tells of it alone."""
        status = self._herald.look()
        serving = {child.pid: child for child in self._crew if child.ready is not None}
        beats = {worker.pid: worker.beats for worker in status.workers} if status else {}
        for pid, child in list(serving.items()):
            if child.role == "coordinator":
                self._answers += status is not None
                beats[pid] = self._answers
            elif status is None:
                del serving[pid]
        for pid in self._watch.look(serving, beats):
            serving[pid].condemn(f"it gave no sign of life for {self._watch.limit_s:g} s")

    def _start_due(self) -> None:
        for role in [role for role, at in self._due.items() if at <= now()]:
            del self._due[role]
            self._crew.start(role)

    def _check_patience(self, child: Child) -> None:
        patience = self._patience
        limit_s = patience.start_coordinator_s if child.role == "coordinator" else patience.start_worker_s
        if child.ready is not None or now() - child.born <= limit_s:
            return
        if not self.served.is_set():
            raise PeerError(f"the {child.role} was not ready within {limit_s:g} s; SPECPIPE_LOG=DEBUG shows more")
        child.condemn(f"it was not ready within {limit_s:g} s")

    def _halt(self) -> bool:
        """Only an instance that has served can halt by itself: a process that is loading hears nobody."""
        able = self.served.is_set() and "coordinator" in self._crew and not self._hurry.is_set()
        return able and self._herald.halt()


def _failure(death: Death, end: EndAll, *, served: bool) -> SpecpipeError:
    kind = _KINDS.get(death.status, WorkerError)
    if kind is UsageError:
        return UsageError(end.cause)
    what = "died" if served else "did not start"
    often = f" ({end.deaths} times in a short time, and is not started again)" if end.deaths > 1 else ""
    return kind(f"the {death.role} {what}{often}: {end.cause}")
