"""What the three role commands share: they settle on their seat, hold the lifeline, and run the role."""

import json
import os
import signal
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from specpipe.errors import SettingsError
from specpipe.lifeline import Lifeline, die_with_parent
from specpipe.log import configure
from specpipe.settings import Settings


def role_command(role: str) -> click.Command:
    """Return the command that runs `specpipe.<role>.main.run` in this process."""

    @click.command(role, help=f"Run the {role} of an instance, as launchers and the supervisor do.")
    @click.option("--config", type=click.Path(path_type=Path), help="Settings, as TOML or JSON.")
    @click.option(
        "--run-folder",
        type=click.Path(path_type=Path, exists=True, file_okay=False),
        required=True,
        help="The folder that the processes of the instance share.",
    )
    @click.option("--cores", default="", help="The cores to stay on, as in 0,1; else wherever the system likes.")
    @click.option("--nice", type=int, default=0, help="How far to step back behind other processes.")
    @click.option("--lifeline", type=int, help="A descriptor; when it closes, the process ends.")
    @click.option("--trace", is_flag=True, help="Record what happens in the run folder.")
    def command(
        config: Path | None, run_folder: Path, cores: str, nice: int, lifeline: int | None, *, trace: bool
    ) -> None:
        configure(role)
        settle(cores, nice)
        settings = read_settings(config)
        with_lifeline(role, lifeline, run_folder, lambda: _main(role)(settings, run_folder, lifeline, trace))

    return command


def settle(cores: str, nice: int) -> None:
    """Stay on these cores, at this priority; raise `SettingsError` if that cannot be."""
    try:
        if cores and hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, [int(core) for core in cores.split(",")])
        os.nice(nice)
    except (OSError, ValueError) as error:
        raise SettingsError(f"cannot stay on cores {cores!r} with nice {nice}: {error}") from error


def read_settings(path: Path | None) -> Settings:
    """Read settings from TOML, or from JSON where the name ends so; without a file all are defaults."""
    if path is None:
        return Settings()
    if path.suffix != ".json":
        return Settings.load(path)
    try:
        return Settings.of(json.loads(path.read_text("utf-8")))
    except OSError as error:
        raise SettingsError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, SettingsError) as error:
        raise SettingsError(f"{path}: {error}") from error


def with_lifeline(role: str, descriptor: int | None, folder: Path, run: Callable[[], None]) -> None:
    """Run a role that ends with its supervisor, however long its imports and its model take.

    The workers die at once. The coordinator, the last to leave, removes the run folder that a killed
    supervisor could not.
    """
    if descriptor is None:
        run()
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if role != "coordinator":
        die_with_parent()
        Lifeline(descriptor, _end_orderly)
        run()
        return
    # Imported here, since a worker has no use for it before its own imports.
    from specpipe.links.folder import discard  # noqa: PLC0415

    lifeline = Lifeline(descriptor, _end_orderly, last=lambda: discard(folder))
    try:
        run()
    finally:
        if lifeline.lost:
            discard(folder)


def _end_orderly() -> None:
    """Have the role end as on SIGTERM, if it has come so far that it knows how."""
    if signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        os.kill(os.getpid(), signal.SIGTERM)


def _main(role: str) -> Callable[[Settings, Path, int | None, bool], Any]:
    run: Callable[[Settings, Path, int | None, bool], Any] = import_module(f"specpipe.{role}.main").run
    return run
