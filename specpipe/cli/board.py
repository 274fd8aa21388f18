"""What `specpipe launch` shows: a live line for people, or a journal of objects for programs."""

from contextlib import suppress
from dataclasses import asdict
from types import TracebackType
from typing import Self

import msgspec
from rich.live import Live
from rich.text import Text

from specpipe.cli.printing import console, print_json
from specpipe.cli.rates import Rates
from specpipe.supervisor.commands import seat_of
from specpipe.supervisor.events import Event, GivenUp, Ready, Restarting, Said
from specpipe.supervisor.placement import Placement
from specpipe.words.messages import Status


class Board:
    """Lines that stay for what happens, and one that is rewritten for what the instance does."""

    def __init__(self) -> None:
        self._console = console()
        self._live = Live(Text("starting"), console=self._console, auto_refresh=False, transient=True)
        self._placement: Placement | None = None
        self._rates = Rates()

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # A terminal that has gone away must not hide why the launch ends.
        with suppress(OSError):
            self._live.stop()

    def seat(self, placement: Placement) -> None:
        """Learn where the processes run."""
        self._placement = placement

    def hear(self, event: Event) -> None:
        """Show what happened to a process; called from the supervisor's thread."""
        match event:
            case Ready():
                self._say(self._ready(event))
            case Restarting(role, reason, after_s):
                self._say(f"{role} ended ({reason}); it is started again in {after_s:g} s")
            case GivenUp(role, reason):
                self._say(f"{role} ended ({reason}); going on without it, as fast as the target alone")
            case Said(role, line):
                self._say(f"{role}: {line}")

    def serve(self, address: str) -> None:
        """Say that all is ready."""
        self._say(f"serving at {address}; Ctrl-C ends it")

    def show(self, status: Status, at: float) -> None:
        """Rewrite the live line."""
        if self._console.is_terminal:
            line = Text(self._rates.line(status, at), no_wrap=True, overflow="ellipsis")
            self._live.update(line, refresh=True)

    def _say(self, line: str) -> None:
        self._console.print(line, markup=False, soft_wrap=True)

    def _ready(self, event: Ready) -> str:
        seat = seat_of(self._placement, event.role) if self._placement else None
        facts = dict(event.facts)
        words = [str(facts[key]) for key in ("model", "device", "dtype") if facts.get(key)]
        if seat and event.role != "coordinator":
            words.append("1 thread" if seat.threads == 1 else f"{seat.threads} threads")
        if seat and seat.cores:
            words.append(f"cores {','.join(map(str, seat.cores))}")
        return f"{event.role} ready after {event.after_s:.1f} s (process {event.pid}; {', '.join(words)})"


class Journal:
    """One JSON object a line on standard output."""

    def __init__(self) -> None:
        self._rates = Rates()
        self._passes = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return

    def seat(self, placement: Placement) -> None:
        """Print where the processes will run."""
        print_json({"event": "placed"} | asdict(placement))

    def hear(self, event: Event) -> None:
        """Print what happened to a process."""
        print_json({"event": type(event).__name__.lower()} | asdict(event))

    def serve(self, address: str) -> None:
        """Print that all is ready."""
        print_json({"event": "serving", "clients": address})

    def show(self, status: Status, at: float) -> None:
        """Print the status where something was done since the last one."""
        if status.passes != self._passes:
            self._passes = status.passes
            print_json({"event": "status"} | msgspec.to_builtins(status) | self._rates.between(status, at))
