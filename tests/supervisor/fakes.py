"""Stand-ins for the three roles that speak the real messages and die in the ways that tests ask for.

Run as `python -m tests.supervisor.fakes ROLE FOLDER BEHAVIOUR`. Behaviours: well, never (not ready), refuse
(ends with 64 and a cause), crash (ends with 3), deaf (ignores Stop and SIGTERM), once (crashes the first time),
brief (ready, then crashes), fickle (crashes before ready, after the first time).
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

from specpipe.lifeline import Lifeline
from specpipe.links.address import fresh_address
from specpipe.links.control import ControlHub, ControlLine
from specpipe.links.sockets import Sockets
from specpipe.links.wait import wait
from specpipe.trace import Recorder
from specpipe.words.messages import TO_COORDINATOR, TO_DRAFTER, Gone, Halt, Look, Message, Pulse, Status, Stop


def command(folder: Callable[[], Path], **behaviours: str) -> Callable[[str], list[str]]:
    """Return what makes the command line of each role, as `Supervisor` takes it."""

    def words(role: str) -> list[str]:
        return [sys.executable, "-m", "tests.supervisor.fakes", role, str(folder()), behaviours.get(role, "well")]

    return words


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
        while not _heard(hub, peers, folder):
            wait([hub], None)
        for peer in peers:
            hub.send(peer, Stop())


def _heard(hub: ControlHub, peers: set[bytes], folder: Path) -> bool:
    """Take what has arrived; return whether it is time to halt."""
    messages = hub.receive()
    for peer, message in messages:
        if isinstance(message, Pulse):
            peers.add(peer)
        if isinstance(message, Gone):
            with (folder.parent / "gone.jsonl").open("a", encoding="utf-8") as file:
                file.write(json.dumps([message.role, message.final, message.reason]) + "\n")
        if isinstance(message, Look):
            hub.send(peer, status())
    return any(isinstance(message, Halt) for _, message in messages)


def status(**changes: Any) -> Status:
    """Return the status of an instance that has done nothing."""
    counts = dict.fromkeys(Status.__struct_fields__, 0) | {"version": "0", "serving": True, "workers": ()}
    return Status(**(counts | changes))  # type: ignore[arg-type]


def work(role: str, folder: Path) -> None:
    """Serve until told to stop."""
    addresses = json.loads((folder / "addresses.json").read_text("utf-8"))
    trace = Recorder(folder, role)
    with Sockets() as sockets:
        line = ControlLine(sockets, addresses["control"], TO_DRAFTER)
        line.send(Pulse(role=role, counter=0, dropped=0, at=0.0))  # type: ignore[arg-type]
        announce(role, dtype="float32")
        messages: list[Message] = []
        while not any(isinstance(message, Stop) for message in messages):
            trace.span("turn", time.monotonic(), time.monotonic())
            wait([line], None)
            messages = line.receive()
    trace.close()


def misbehave(role: str, folder: Path, behaviour: str) -> None:
    """Do what `behaviour` says before, or instead of, serving."""
    mark = folder.parent / f"been-{role}"
    if behaviour == "refuse":
        sys.stderr.write(f"specpipe: the {role} cannot read its model\n")
        sys.exit(64)
    if behaviour == "crash" or (behaviour == "once" and not mark.exists()) or (behaviour == "fickle" and mark.exists()):
        mark.touch()
        sys.exit(3)
    mark.touch()
    if behaviour == "never":
        threading.Event().wait()
    if behaviour == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        announce(role, control="", clients="")
        threading.Event().wait()
    if behaviour == "brief":
        announce(role)
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    Lifeline(0, grace_s=0.1)
    _, played, where, how = sys.argv
    misbehave(played, Path(where), how)
    if played == "coordinator":
        coordinate(Path(where))
    else:
        work(played, Path(where))
