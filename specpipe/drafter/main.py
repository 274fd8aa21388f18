"""The drafter's process."""

import gc
import os
from collections.abc import Callable
from pathlib import Path

from specpipe.drafter.guesser import Guesser
from specpipe.drafter.loop import Drafter
from specpipe.links.control import ControlLine
from specpipe.links.data import DataClient
from specpipe.links.seam import DataDialer
from specpipe.links.sockets import Sockets
from specpipe.minds.drafting import Drafting, Shape
from specpipe.models.catalogue import resolve_draft
from specpipe.models.load import load_executor
from specpipe.models.seam import Executor
from specpipe.process import identity
from specpipe.process.announcing import announce
from specpipe.process.ending import Ending
from specpipe.process.meeting import find
from specpipe.process.pulse import Heart
from specpipe.process.wires import Wires
from specpipe.settings import Settings
from specpipe.trace import recorder
from specpipe.words.messages import PROTOCOL, TO_DRAFTER, Hello


def _untouched(link: DataDialer) -> DataDialer:
    return link


def run(
    settings: Settings,
    folder: Path,
    lifeline: int | None,  # noqa: ARG001 - held by the caller
    trace: bool,
    *,
    around: Callable[[DataDialer], DataDialer] = _untouched,
) -> None:
    """Serve as the drafter of the instance in `folder` until asked to end.

    `around` may wrap the data link, as tests do.
    """
    address = find(folder).control
    ngram = _ngram(settings)
    executor = load_executor("drafter", settings)
    hello = _hello(settings, executor)
    # What was loaded stays for good; the collector need not look at it again and again.
    gc.freeze()
    with Ending() as ending, Sockets() as sockets:
        wires = Wires(ControlLine(sockets, address, TO_DRAFTER), around(DataClient(sockets)))
        events = recorder(folder, "drafter", on=trace)
        mind = Drafting(_shape(settings, executor, ngram=ngram))
        heart = Heart(hello, wires.control, lambda: mind.standing)
        heart.greet()
        announce("drafter", model=hello.model, device=hello.device, dtype=hello.dtype, threads=hello.threads)
        guesser = Guesser(executor, settings.speculation.fan) if executor else None
        Drafter(mind, guesser, wires, heart=heart, ending=ending, trace=events).run()
        events.close()


def _ngram(settings: Settings) -> bool:
    draft = settings.draft
    return resolve_draft(draft.name, settings.target.name, trust_remote_code=draft.trust_remote_code).ngram


def _shape(settings: Settings, executor: Executor | None, *, ngram: bool) -> Shape:
    lanes, requests = settings.speculation.lanes, settings.engine.requests
    if executor is None:
        return Shape(lanes, requests, slots=4096, context=1 << 30, prefill_rows=1, model=False, ngram=True)
    facts = executor.facts
    return Shape(lanes, facts.lanes, facts.slots, facts.context, facts.prefill_rows, ngram=ngram)


def _hello(settings: Settings, executor: Executor | None) -> Hello:
    facts = executor.facts if executor else None
    return Hello(
        role="drafter",
        protocol=PROTOCOL,
        pid=os.getpid(),
        model=facts.name if facts else "ngram",
        fingerprint=identity.draft_fingerprint(settings) if facts else "",
        vocabulary=facts.vocabulary if facts else 0,
        context=facts.context if facts else 0,
        lanes=facts.lanes if facts else settings.engine.requests,
        device=facts.device if facts else "cpu",
        dtype=facts.dtype if facts else "",
        threads=facts.threads if facts else 1,
    )
