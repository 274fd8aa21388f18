"""One measurement on simulated devices: an instance of real processes in which only the models are made up."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from specpipe.cli.answers import Whole, read
from specpipe.cli.instances import own_instance, supervised
from specpipe.client.asking import Options, ask_ids
from specpipe.client.client import Client
from specpipe.settings import ModelSettings, Settings, SimulatedSettings, SpeculationSettings
from specpipe.supervisor.events import Event
from specpipe.supervisor.signals import Interrupts
from specpipe.words.sampling import Mode, Shape

_WORDS = 4
_WORD_BITS = 12


@dataclass(frozen=True, slots=True)
class Devices:
    """The simulated pair: planted chances, and milliseconds for a step, a pass, and each further row of a pass."""

    w: tuple[float, ...]
    draft_ms: float
    target_ms: float
    row_ms: float
    lanes: int


@dataclass(frozen=True, slots=True)
class Trial:
    """What is measured: `nodes` drafted rows a pass at most (0: as the verifier chooses) in the shape `check`, and
    `tokens` of an answer.
    """

    mode: Mode
    check: Shape
    nodes: int
    tokens: int
    seed: int


@contextmanager
def simulated(devices: Devices, interrupts: Interrupts) -> Iterator[Client]:
    """Start an instance of simulated devices, and give a client of it."""
    settings = Settings(
        target=ModelSettings("simulated"),
        draft=ModelSettings("simulated"),
        speculation=SpeculationSettings(lanes=devices.lanes),
        simulated=SimulatedSettings(devices.w, devices.draft_ms, devices.target_ms, devices.row_ms),
    )
    # Settings made in code are checked as those of a file are.
    checked = settings.merged({})
    with own_instance(supervised(checked, interrupts, trace=None, report=_unheard)) as client:
        yield client


def measure(client: Client, trial: Trial) -> Whole:
    """Have one answer written; another seed is another text, since the planted stream hangs on the prompt."""
    options = Options(
        mode=trial.mode,
        check=trial.check,
        nodes=trial.nodes,
        max_tokens=trial.tokens,
        seed=trial.seed,
        ignore_eos=True,
    )
    return read(client.ask(ask_ids(_prompt(trial.seed), options)), _unread)


def speedup(answer: Whole, base: Whole) -> float:
    """Return the ratio of the tokens a second of two answers."""
    return _rate(answer) / _rate(base) if _rate(base) else 0.0


def described(answer: Whole) -> dict[str, Any]:
    """Return the figures of a measurement."""
    return {"tokens": answer.finished.completion_tokens, **answer.stats()}


def _rate(answer: Whole) -> float:
    return answer.finished.stats.tokens_per_second


def _prompt(seed: int) -> list[int]:
    return [(seed >> (_WORD_BITS * word)) % (1 << _WORD_BITS) for word in range(_WORDS)]


def _unheard(_event: Event) -> None:
    return None


def _unread(_text: str) -> None:
    return None
