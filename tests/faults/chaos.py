"""Kills and stops workers at random while requests of all kinds run, and compares every answer with the target's own.

Outside of the tests, for as long as one likes: `python -m tests.faults.chaos --minutes 5`. Prints figures, and ends
with status 1 if any answer was different, failed, or never ended.
"""

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import psutil
from msgspec import structs

from specpipe.client.answers import Answer
from specpipe.client.asking import Options
from specpipe.client.client import Client
from specpipe.settings import RecoverySettings
from specpipe.supervisor.events import Event
from specpipe.supervisor.placement import Machine
from specpipe.supervisor.supervisor import Supervisor
from specpipe.words.messages import Delta, Failed, Finished
from tests.process.instances import Running, Told, gather, pair, running
from tests.process.simulated import role_of
from tests.tiny import tiny_llama

Request = tuple[str | tuple[int, ...], Options]
_LONG = Options(max_tokens=400, ignore_eos=True)
REQUESTS: tuple[Request, ...] = (
    ("the day", _LONG),
    ((5, 6, 7), replace(_LONG, temperature=0.8, seed=11)),
    ("old men say", replace(_LONG, mode="sequential")),
    (tuple(range(50, 300)), replace(_LONG, mode="target", temperature=1.0, top_p=0.9, seed=3)),
    ((9, 8, 7), Options(max_tokens=700, temperature=0.7, seed=5)),
    ("water " * 60, replace(_LONG, max_tokens=250, stop=("never in it",))),
)
# Long enough for a pass of the tiny models on a machine that is busy.
SILENCE_S = 3.0


@contextmanager
def instance(
    folders: tuple[Path, Path], recovery: RecoverySettings, events: list[Event] | None = None
) -> Iterator[Running]:
    """Give an instance of these models, and what happened to its processes."""
    settings = structs.replace(pair(*folders), recovery=recovery)
    heard: list[Event] = [] if events is None else events
    supervisor = Supervisor(settings, Machine(cores=(0, 1)), report=heard.append)
    with supervisor, Client(supervisor.clients_address, check=supervisor.check) as client:
        client.status()
        yield Running(supervisor, client)


def models(base: Path) -> tuple[Path, Path]:
    """Write a target and a noised copy of it."""
    target = tiny_llama(base / "target", 1)
    return target, tiny_llama(base / "noised", 2, noise_of=target, scale=0.03)


def undisturbed(target: Path) -> list[Told]:
    """Return what the target alone answers to each of the requests."""
    with running(pair(target, "none")) as alone:
        return [alone.tell(prompt, options) for prompt, options in REQUESTS]


def same(told: Told, expected: Told) -> bool:
    """Whether two answers are the same to whoever asked."""
    return (told.tokens, told.text, told.finish_reason, told.completion_tokens) == (
        expected.tokens,
        expected.text,
        expected.finish_reason,
        expected.completion_tokens,
    )


def in_turns(answers: Sequence[Iterator[Answer]], disturb: Callable[[int], None]) -> list[list[Answer]]:
    """Read several answers to their ends, one message of each in turn; `disturb` is told how many tokens have come."""
    messages: list[list[Answer]] = [[] for _ in answers]
    going = dict(enumerate(answers))
    while going:
        for number, each in list(going.items()):
            messages[number].append(next(each))
            if isinstance(messages[number][-1], Finished | Failed):
                del going[number]
            disturb(sum(len(told.tokens) for answer in messages for told in answer if isinstance(told, Delta)))
    return messages


def workers(served: Running, role: str) -> list[psutil.Process]:
    """Return the processes of an instance that play a role, ready or still loading; other instances may be up too."""
    children = psutil.Process().children()
    return [process for process in children if role_of(process) == role and _belongs(process, served)]


def _belongs(process: psutil.Process, served: Running) -> bool:
    try:
        return str(served.supervisor.folder) in process.cmdline()
    except psutil.Error:
        return False


def strike(served: Running, role: str, number: signal.Signals) -> bool:
    """Send a signal to whoever plays a role now; return whether there was anyone."""
    struck = workers(served, role)
    for process in struck:
        os.kill(process.pid, number)
    return bool(struck)


@dataclass
class Mischief:
    """Strikes at random moments until it is told to end; `done` counts what it did."""

    served: Running
    chance: random.Random
    done: Counter[str] = field(default_factory=Counter)
    ended: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        """Strike."""
        while not self.ended.wait(self.chance.uniform(0.2, 5.0)):
            roles = self.chance.choice([("verifier",), ("drafter",), ("verifier", "drafter")])
            kind = self.chance.choice(["kill", "kill", "stop", "pause"])
            for role in roles:
                if strike(self.served, role, signal.SIGKILL if kind == "kill" else signal.SIGSTOP):
                    self.done[f"{kind} {role}"] += 1
            if kind == "pause":
                self.ended.wait(self.chance.uniform(0.1, 1.5))
                for role in roles:
                    strike(self.served, role, signal.SIGCONT)


def rounds(served: Running, expected: Sequence[Told], chance: random.Random, until: float) -> dict[str, object]:
    """Ask for random lots of answers until a moment; return figures."""
    counts, longest = Counter[str](), 0.0
    while time.monotonic() < until:
        lot = [chance.randrange(len(REQUESTS)) for _ in range(chance.randint(1, 6))]
        began = time.monotonic()
        messages = in_turns([served.start(*REQUESTS[number]) for number in lot], lambda _: None)
        longest = max(longest, time.monotonic() - began)
        for number, each in zip(lot, messages, strict=True):
            counts["answers"] += 1
            counts["tokens"] += expected[number].completion_tokens
            if isinstance(each[-1], Failed) or not same(gather(iter(each)), expected[number]):
                counts["wrong"] += 1
                sys.stderr.write(f"request {number} ended with {each[-1]}\n")
    return {"wrong": 0} | counts | {"longest_lot_s": round(longest, 1)}


def main() -> int:
    """Run the chaos that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=1)
    words = parser.parse_args()
    recovery = RecoverySettings(restarts=1 << 20, window_s=0.5, first_s=0.1, silence_s=SILENCE_S)
    with tempfile.TemporaryDirectory() as base:
        folders = models(Path(base))
        expected = undisturbed(folders[0])
        events: list[Event] = []
        with instance(folders, recovery, events) as served:
            mischief = Mischief(served, random.Random(words.seed))
            thread = threading.Thread(target=mischief.run)
            until = time.monotonic() + 60 * words.minutes
            thread.start()
            try:
                figures = rounds(served, expected, random.Random(words.seed + 1), until)
            finally:
                mischief.ended.set()
                thread.join()
    kinds = Counter(f"{type(event).__name__.lower()} {event.role}" for event in events)
    sys.stdout.write(json.dumps(figures | {"struck": mischief.done, "heard": kinds}, indent=1) + "\n")
    return 1 if figures["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
