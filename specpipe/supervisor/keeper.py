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
from specpipe.supervisor.policy import GoOnWithout, Restart, RestartPolicy, Role

_TURN_S = 0.1
_KINDS: dict[int, type[SpecpipeError]] = {64: UsageError, 69: PeerError, 75: BusyError}


class Herald(Protocol):
    """Speaks to the coordinator for the supervisor."""

    def meet(self, coordinator: Child) -> None:
        """Connect to a coordinator that has just become ready."""
        ...

    def gone(self, role: Role, reason: str, *, final: bool) -> None:
        """Say that a worker's process ended; `final` when it will not be started again."""
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
    ) -> None:
        self._crew = crew
        self._roles = roles
        self._herald = herald
        self._report = report
        self._on_served = on_served
        self._policy = policy
        self._patience = patience
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
        reason = child.reason()
        served = self.served.is_set()
        decision = self._policy.ended(child.role, child.status or 0, now(), served=served)
        if child.role != "coordinator":
            self._herald.gone(child.role, reason, final=not isinstance(decision, Restart))
        if isinstance(decision, Restart):
            self._report(Restarting(child.role, reason, decision.after_s))
            self._due[child.role] = now() + decision.after_s
        elif isinstance(decision, GoOnWithout):
            self._report(GivenUp(child.role, reason))
        else:
            raise _failure(child, reason, served=served)

    def _start_due(self) -> None:
        for role in [role for role, at in self._due.items() if at <= now()]:
            del self._due[role]
            self._crew.start(role)

    def _check_patience(self, child: Child) -> None:
        patience = self._patience
        limit_s = patience.start_coordinator_s if child.role == "coordinator" else patience.start_worker_s
        if child.ready is None and now() - child.born > limit_s:
            raise PeerError(f"the {child.role} was not ready within {limit_s:g} s; SPECPIPE_LOG=DEBUG shows more")

    def _halt(self) -> bool:
        """Only an instance that has served can halt by itself: a process that is loading hears nobody."""
        able = self.served.is_set() and "coordinator" in self._crew and not self._hurry.is_set()
        return able and self._herald.halt()


def _failure(child: Child, reason: str, *, served: bool) -> SpecpipeError:
    kind = _KINDS.get(child.status or 0, WorkerError)
    if kind is UsageError:
        return UsageError(reason)
    return kind(f"the {child.role} {'died' if served else 'did not start'}: {reason}")
