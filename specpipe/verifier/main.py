"""The verifier's process."""

import gc
import os
from pathlib import Path

from specpipe.errors import ModelError
from specpipe.links.address import fresh_address
from specpipe.links.control import ControlLine
from specpipe.links.data import DataServer
from specpipe.links.sockets import Sockets
from specpipe.minds.costs import PassCosts
from specpipe.minds.verifying import Shape, Verifying
from specpipe.models.load import load_executor
from specpipe.models.seam import Facts
from specpipe.models.warm import warm
from specpipe.process import identity
from specpipe.process.announcing import announce
from specpipe.process.ending import Ending
from specpipe.process.meeting import find
from specpipe.process.pulse import Heart
from specpipe.process.wires import Wires
from specpipe.settings import Settings
from specpipe.trace import recorder
from specpipe.verifier.judge import Judge
from specpipe.verifier.loop import Verifier
from specpipe.words.messages import PROTOCOL, TO_VERIFIER, Hello

# Widths whose passes are timed before the first request; others are interpolated.
_WIDTHS = (1, 8, 16)


def run(settings: Settings, folder: Path, lifeline: int | None, trace: bool) -> None:  # noqa: ARG001
    """Serve as the verifier of the instance in `folder` until asked to end."""
    address = find(folder).control
    executor = load_executor("verifier", settings)
    if executor is None:
        raise ModelError(f"{settings.target.name!r} is no model to verify with; name a target")
    facts = executor.facts
    mind = Verifying(_shape(facts), PassCosts(warm(executor, _WIDTHS)))
    judge = Judge(executor)
    fingerprint = identity.target_fingerprint(settings)
    # What was loaded stays for good; the collector need not look at it again and again.
    gc.freeze()
    with Ending() as ending, Sockets() as sockets:
        data = DataServer(
            sockets,
            fresh_address(settings.transport, folder, "edges"),
            fresh_address(settings.transport, folder, "verdicts"),
        )
        wires = Wires(ControlLine(sockets, address, TO_VERIFIER), data)
        events = recorder(folder, "verifier", on=trace)
        heart = Heart(_hello(facts, data, fingerprint), wires.control, lambda: mind.standing)
        heart.greet()
        announce("verifier", model=facts.name, device=facts.device, dtype=facts.dtype, threads=facts.threads)
        Verifier(mind, judge, wires, heart=heart, ending=ending, trace=events).run()
        events.close()


def _shape(facts: Facts) -> Shape:
    return Shape(facts.lanes, facts.context, facts.prefill_rows, facts.block_rows)


def _hello(facts: Facts, data: DataServer, fingerprint: str) -> Hello:
    return Hello(
        role="verifier",
        protocol=PROTOCOL,
        pid=os.getpid(),
        model=facts.name,
        fingerprint=fingerprint,
        vocabulary=facts.vocabulary,
        context=facts.context,
        lanes=facts.lanes,
        device=facts.device,
        dtype=facts.dtype,
        threads=facts.threads,
        edges=data.edges_address,
        verdicts=data.verdicts_address,
    )
