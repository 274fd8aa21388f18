"""Stand-ins for the three roles that speak the real messages and die in the ways that tests ask for.

Run as `python -m tests.supervisor.fakes ROLE FOLDER BEHAVIOUR`. Behaviours: well, never (not ready), refuse
(ends with 64 and a cause), crash (ends with 3), deaf (ignores Stop and SIGTERM), once (crashes the first time),
brief (ready, then crashes), fickle (crashes before ready, after the first time), unknown (gives no sign of life),
stuck (never, after the first time), messy (told to end, puts something into the run folder).
"""

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from specpipe.lifeline import Lifeline
from specpipe.links.address import fresh_address
from specpipe.links.control import ControlHub, ControlLine
from specpipe.links.folder import discard
from specpipe.links.sockets import Sockets
from specpipe.links.wait import wait
from specpipe.trace import Recorder
from specpipe.words.messages import (
    TO_COORDINATOR,
    TO_DRAFTER,
    Ask,
    Cancel,
    Close,
    Delta,
    Failed,
    Finished,
    Gone,
    Halt,
    Look,
    Message,
    Pulse,
    Started,
    Stats,
    Status,
    Stop,
    WorkerStatus,
)
from tests.minds.messages import pulse


def command(folder: Callable[[], Path], **behaviours: str) -> Callable[[str], list[str]]:
    """Return what makes the command line of each role, as `Supervisor` takes it."""

    def words(role: str) -> list[str]:
        return [sys.executable, "-m", "tests.supervisor.fakes", role, str(folder()), behaviours.get(role, "well")]

    return words


def notes() -> Path:
    """Return the folder of the test in which stand-ins note what happened to them."""
    return Path(os.environ["STAND_IN_NOTES"])


def announce(role: str, **facts: Any) -> None:
    """Print the line that says that a role serves."""
    sys.stdout.write(json.dumps({"ready": role, **facts}) + "\n")
    sys.stdout.flush()


def coordinate(folder: Path) -> None:
    """Serve until told to halt; keep what was heard of deaths in `gone.jsonl`."""
    with Sockets() as sockets:
        hub = ControlHub(sockets, fresh_address("ipc", folder, "control"), TO_COORDINATOR)
        (folder / "addresses.json").write_text(json.dumps({"control": hub.address, "clients": hub.address}), "utf-8")
        announce("coordinator", control=hub.address, clients=hub.address)
        peers: set[bytes] = set()
        while not _heard(hub, peers):
            wait([hub], None)
        for peer in peers:
            hub.send(peer, Stop())


def _heard(hub: ControlHub, peers: set[bytes]) -> bool:
    """Take what has arrived; return whether it is time to halt."""
    messages = hub.receive()
    for peer, message in messages:
        if isinstance(message, Pulse):
            peers.add(peer)
            hub.send(peer, Close(request=0))
        if isinstance(message, Gone):
            with (notes() / "gone.jsonl").open("a", encoding="utf-8") as file:
                file.write(json.dumps([message.role, message.pid, message.final, message.reason]) + "\n")
        if isinstance(message, Look):
            # All that have ever beaten beat on; whoever has not is unknown.
            known = [WorkerStatus(role="worker", ready=True, pid=int(each), beats=_beats()) for each in _known()]
            hub.send(peer, status(workers=tuple(known)))
        if isinstance(message, Ask):
            answer(hub, peer, message)
        if isinstance(message, Cancel):
            (notes() / "cancelled").touch()
    return any(isinstance(message, Halt) for _, message in messages)


def _known() -> list[str]:
    """Return the processes that are known to the coordinator, from the notes that they left."""
    return [path.name.removeprefix("alive-") for path in notes().glob("alive-*")]


def _beats() -> int:
    return int(time.monotonic() * 100)


def answer(hub: ControlHub, peer: bytes, ask: Ask) -> None:
    """Say "Hello world"; asked to "linger" say half of it, asked to "fail" say why not."""
    prompt = ask.text or ask.chat[0][1]
    hub.send(peer, Started(key=ask.key, seed=ask.sampling.seed, prompt_tokens=2))
    if prompt == "fail":
        hub.send(peer, Failed(key=ask.key, kind="failed", reason="the verifier died"))
        return
    hub.send(peer, Delta(key=ask.key, text="Hello", tokens=np.array([1], np.int32), log_p=np.zeros(1, np.float32)))
    if prompt == "linger":
        return
    hub.send(peer, Delta(key=ask.key, text=" world", tokens=np.array([2], np.int32), log_p=np.zeros(1, np.float32)))
    end = Finished(
        key=ask.key, finish_reason="stop", seed=ask.sampling.seed, prompt_tokens=2, completion_tokens=2, stats=Stats()
    )
    hub.send(peer, end)


def status(**changes: Any) -> Status:
    """Return the status of an instance that has done nothing."""
    counts = dict.fromkeys(Status.__struct_fields__, 0) | {"version": "0", "serving": True, "workers": ()}
    return Status(**(counts | changes))  # type: ignore[arg-type]


def work(role: str, folder: Path, *, unknown: bool) -> None:
    """Serve until told to stop; `unknown` to the coordinator, which is as good as not serving."""
    addresses = json.loads((folder / "addresses.json").read_text("utf-8"))
    trace = Recorder(folder, role)
    with Sockets() as sockets:
        line = ControlLine(sockets, addresses["control"], TO_DRAFTER)
        line.send(pulse(role))  # type: ignore[arg-type]
        if not unknown:
            (notes() / f"alive-{os.getpid()}").touch()
        # Told from the first answer: an instance of stand-ins may be ended as soon as it is ready.
        wait([line], None)
        announce(role, dtype="float32")
        messages: list[Message] = []
        while not any(isinstance(message, Stop) for message in messages):
            trace.span("turn", time.monotonic(), time.monotonic())
            wait([line], None)
            messages = line.receive()
    trace.close()


def _litter(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "litter").touch()
    sys.exit(0)


def misbehave(role: str, folder: Path, behaviour: str) -> None:
    """Do what `behaviour` says before, or instead of, serving."""
    mark = notes() / f"been-{role}"
    if behaviour == "refuse":
        sys.stderr.write(f"specpipe: the {role} cannot read its model\n")
        sys.exit(64)
    if behaviour == "crash" or (behaviour == "once" and not mark.exists()) or (behaviour == "fickle" and mark.exists()):
        mark.touch()
        sys.exit(3)
    stuck = behaviour == "stuck" and mark.exists()
    mark.touch()
    if behaviour == "never" or stuck:
        threading.Event().wait()
    if behaviour == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        announce(role, control="", clients="")
        threading.Event().wait()
    if behaviour == "messy":
        signal.signal(signal.SIGTERM, lambda *_: _litter(folder))
        announce(role)
        threading.Event().wait()
    if behaviour == "brief":
        announce(role)
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    _, played, where, how = sys.argv
    Lifeline(0, last=lambda: discard(Path(where)) if played == "coordinator" else None, grace_s=0.1)
    misbehave(played, Path(where), how)
    if played == "coordinator":
        coordinate(Path(where))
    else:
        work(played, Path(where), unknown=how == "unknown")
