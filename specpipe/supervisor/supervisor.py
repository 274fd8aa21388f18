"""One running instance, from before its first process to after its last: a context manager."""

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from specpipe import __version__
from specpipe.errors import WorkerError
from specpipe.links.folder import Instance, RunFolder, discard, register
from specpipe.models.device import choose_dtype
from specpipe.process.confidence import confide
from specpipe.settings import Settings
from specpipe.supervisor.commands import command, environment, seat_of
from specpipe.supervisor.crew import Command, Crew
from specpipe.supervisor.events import Event, Ready
from specpipe.supervisor.herald import LineHerald
from specpipe.supervisor.keeper import Keeper
from specpipe.supervisor.ladder import Patience
from specpipe.supervisor.placement import Machine, Placement, drafts, place
from specpipe.supervisor.policy import RestartPolicy, Role
from specpipe.supervisor.timeline import merge
from specpipe.supervisor.watch import Watch

_TICK_S = 0.1


def _unheard(_event: Event) -> None:
    return None


class Supervisor:
    """Runs the processes of `settings` on `machine`; while open, the instance serves at `clients_address`.

    Entering returns when all processes are ready, or raises what kept them from it. `report` hears what
    happens, from the supervisor's thread. `trace` is the file for the merged trace, written at the end.
    `command` replaces the command line of each role, for tests. Leaving ends all processes within 5 s and
    removes the run folder.
    """

    def __init__(
        self,
        settings: Settings,
        machine: Machine,
        *,
        report: Callable[[Event], None] = _unheard,
        trace: Path | None = None,
        command: Command | None = None,
        policy: RestartPolicy | None = None,
        patience: Patience | None = None,
    ) -> None:
        self.placement: Placement = place(settings, machine)
        self.settings: Settings = self.placement.seated(settings)
        self._asked_for = settings
        self._report = report
        self._trace = trace
        self._command = command or self._role_command
        recovery = settings.recovery
        self._policy = policy or RestartPolicy(recovery.restarts, recovery.window_s, recovery.first_s)
        self._patience = patience or Patience()
        self._facts: dict[Role, Ready] = {}
        self._herald = LineHerald()
        self._keeper = self._hire()
        # A daemon, so that nothing can keep an interpreter that ends from cutting the lifelines.
        self._thread = threading.Thread(target=self._keeper.run, name="supervisor", daemon=True)

    def __enter__(self) -> Self:
        self._folder = RunFolder.create()
        try:
            self._herald.secret = confide(self._folder.path)
            self._settings_file.write_bytes(msgspec.json.encode(self.settings))
            self._thread.start()
            self._await_served()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    @property
    def folder(self) -> Path:
        """The run folder."""
        return self._folder.path

    @property
    def clients_address(self) -> str:
        """Where clients connect."""
        return str(self._facts["coordinator"].facts["clients"])

    @property
    def pids(self) -> dict[Role, int]:
        """The process ids, as last announced."""
        return {role: ready.pid for role, ready in self._facts.items()}

    def check(self) -> None:
        """Raise why the instance ends, if it does."""
        if self._keeper.over.is_set():
            raise self._keeper.failure or WorkerError("the instance has ended")

    def wait(self, timeout_s: float) -> None:
        """Wait; raise why the instance ends, as soon as it does."""
        self._keeper.over.wait(timeout_s)
        self.check()

    def hurry(self) -> None:
        """Kill all processes now; may be called from a signal handler."""
        self._keeper.ask_to_end(at_once=True)

    @property
    def _settings_file(self) -> Path:
        return self._folder.path / "settings.json"

    def _hire(self) -> Keeper:
        roles: tuple[Role, ...] = ("coordinator", "verifier")
        return Keeper(
            Crew(self._command, lambda role: environment(seat_of(self.placement, role)), self._hear),
            (*roles, "drafter") if drafts(self.settings) else roles,
            self._herald,
            report=self._hear,
            on_served=self._register,
            policy=self._policy,
            patience=self._patience,
            watch=Watch(self.settings.recovery.silence_s),
        )

    def _role_command(self, role: Role) -> list[str]:
        seat = seat_of(self.placement, role)
        return command(
            role, seat, settings=self._settings_file, folder=self._folder.path, trace=self._trace is not None
        )

    def _hear(self, event: Event) -> None:
        if isinstance(event, Ready):
            self._facts[event.role] = event
        self._report(event)

    def _register(self) -> None:
        asked, target = self._asked_for, self.settings.target
        instance = Instance(
            pid=os.getpid(),
            version=__version__,
            target=asked.target.name,
            draft=asked.draft.name if drafts(asked) else "none",
            dtype=choose_dtype(target.dtype, target.device),
            clients=self.clients_address,
            created=time.time(),
        )
        register(self._folder.path, instance)

    def _await_served(self) -> None:
        while not self._keeper.served.wait(_TICK_S):
            self.check()

    def _end(self) -> None:
        """End the processes; whatever interrupts the waiting, the folder is removed.

        That is done first where nothing in it is still wanted: connections outlive the names of their
        sockets, and who is killed while waiting leaves nothing. It is done again at the end, because a process
        that is starting may have put something into the folder in the middle of the first time.
        """
        try:
            if self._trace is None:
                discard(self._folder.path)
            self._keeper.ask_to_end()
            if self._thread.ident is not None:
                self._thread.join()
            if self._trace is not None:
                merge(self._folder.path, self._trace)
        finally:
            self._folder.remove()
