"""The coordinator's process."""

import secrets
from pathlib import Path

from specpipe.coordinator.loop import Coordinator
from specpipe.coordinator.texts import Texts
from specpipe.links.address import fresh_address
from specpipe.links.control import ControlHub
from specpipe.links.sockets import Sockets
from specpipe.minds.booking import Booking
from specpipe.process import identity
from specpipe.process.announcing import announce
from specpipe.process.confidence import Confidence
from specpipe.process.ending import Ending
from specpipe.process.meeting import Addresses, publish
from specpipe.settings import Settings
from specpipe.trace import recorder
from specpipe.words.messages import Ask, Cancel, Gone, Halt, Hello, Look, Pulse, Steps, Unserved, Verdict

_FROM_WORKERS = (Hello, Pulse, Steps, Unserved, Verdict, Gone, Halt, Look)
_FROM_CLIENTS = (Ask, Cancel, Look)


def run(settings: Settings, folder: Path, lifeline: int | None, trace: bool) -> None:  # noqa: ARG001
    """Serve as the coordinator of the instance in `folder` until asked to end."""
    with Ending() as ending, Sockets() as sockets:
        mind = Booking(Texts(identity.tokenizer(settings)), settings.engine.waiting, lambda: secrets.randbits(64))
        workers = ControlHub(sockets, fresh_address(settings.transport, folder, "control"), _FROM_WORKERS)
        clients = ControlHub(sockets, fresh_address(settings.transport, folder, "clients"), _FROM_CLIENTS)
        publish(folder, Addresses(workers.address, clients.address))
        events = recorder(folder, "coordinator", on=trace)
        announce("coordinator", control=workers.address, clients=clients.address)
        Coordinator(mind, workers, clients, confidence=Confidence(folder), ending=ending, trace=events).run()
        events.close()
