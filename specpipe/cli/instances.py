"""Whom a command speaks to: a running instance that fits, or one that is started for it alone."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from specpipe.client.client import Client
from specpipe.errors import PeerError, WorkerError
from specpipe.links.folder import Instance, running
from specpipe.models.device import choose_device, choose_dtype, count_gpus
from specpipe.settings import Settings
from specpipe.supervisor.events import Event
from specpipe.supervisor.machine import survey
from specpipe.supervisor.signals import Interrupts
from specpipe.supervisor.supervisor import Supervisor

_CAUSE_S = 2.0


def supervised(
    settings: Settings, interrupts: Interrupts, *, trace: Path | None, report: Callable[[Event], None]
) -> Supervisor:
    """Return an instance of these settings, not yet started, which a second Ctrl-C kills at once."""
    supervisor = Supervisor(settings, survey(count_gpus()), trace=trace, report=report)
    interrupts.hurry_with(supervisor.hurry)
    return supervisor


@contextmanager
def own_instance(supervisor: Supervisor) -> Iterator[Client]:
    """Start an instance, and give a client of it; if it fails, its first cause comes out."""
    with supervisor, Client(supervisor.clients_address, check=supervisor.check) as client:
        try:
            yield client
        except (WorkerError, PeerError):
            supervisor.wait(_CAUSE_S)
            raise


def running_instance(settings: Settings) -> Client | None:
    """Return a client of the newest running instance that serves what `settings` ask for, or None."""
    fitting = (instance for instance in running() if fits(instance, settings))
    return next((Client(instance.clients) for instance in fitting if _serves(instance)), None)


def fits(instance: Instance, settings: Settings) -> bool:
    """Tell whether an instance has the models and the arithmetic that were asked for.

    The target alone needs no certain draft.
    """
    target = settings.target
    same_draft = instance.draft == settings.draft.name or settings.speculation.mode == "target"
    same_dtype = instance.dtype == choose_dtype(target.dtype, choose_device(target.device, count_gpus()))
    return instance.target == target.name and same_draft and same_dtype


def _serves(instance: Instance) -> bool:
    try:
        with Client(instance.clients, silence_s=0.5, patience_s=2.0) as client:
            return client.status().serving
    except PeerError:
        return False
