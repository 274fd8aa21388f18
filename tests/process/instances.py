"""Real instances of real processes, and what they answer."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from specpipe.client.answers import Answers
from specpipe.client.asking import Options, ask_ids, ask_text
from specpipe.client.client import Client
from specpipe.client.logprobs import Logprob, logprobs
from specpipe.settings import EngineSettings, ModelSettings, Settings, SpeculationSettings
from specpipe.supervisor.placement import Machine
from specpipe.supervisor.supervisor import Supervisor
from specpipe.words.messages import Delta, Failed, Finished, Started, Stats


@dataclass(frozen=True, slots=True)
class Told:
    """A whole answer."""

    text: str
    tokens: list[int]
    finish_reason: str
    stats: Stats
    seed: int
    prompt_tokens: int
    completion_tokens: int
    logprobs: list[Logprob]


class Running:
    """A started instance with one client."""

    def __init__(self, supervisor: Supervisor, client: Client) -> None:
        self.supervisor = supervisor
        self.client = client

    def tell(self, prompt: str | Sequence[int], options: Options) -> Told:
        """Ask and read the whole answer; fail unless it ends with `Finished`."""
        return gather(self.start(prompt, options))

    def start(self, prompt: str | Sequence[int], options: Options) -> Answers:
        """Ask; return the answers as they come."""
        ask = ask_text(prompt, options) if isinstance(prompt, str) else ask_ids(prompt, options)
        return self.client.ask(ask)


def gather(answers: Iterator[object]) -> Told:
    """Read answers to their end."""
    text, tokens, told, started = "", list[int](), list[Logprob](), None
    for answer in answers:
        match answer:
            case Started():
                started = answer
            case Delta():
                text += answer.text
                tokens += answer.tokens.tolist()
                told += logprobs(answer)
            case Failed():
                raise AssertionError(f"{answer.kind}: {answer.reason}")
            case Finished():
                assert started is not None
                return Told(
                    text,
                    tokens,
                    answer.finish_reason,
                    answer.stats,
                    answer.seed,
                    answer.prompt_tokens,
                    answer.completion_tokens,
                    told,
                )
    raise AssertionError("the answers ended without an end")


def pair(target: Path | str, draft: Path | str, *, dtype: str = "float32", threads: int = 1) -> Settings:
    """Return settings for a pair of model folders."""
    return Settings(
        target=ModelSettings(str(target), dtype=dtype, threads=threads),  # type: ignore[arg-type]
        draft=ModelSettings(str(draft), dtype=dtype, threads=threads),  # type: ignore[arg-type]
        speculation=SpeculationSettings(),
        engine=EngineSettings(),
    )


@contextmanager
def running(settings: Settings) -> Iterator[Running]:
    """Start an instance on this machine's cores."""
    with (
        Supervisor(settings, Machine(cores=(0, 1))) as supervisor,
        Client(supervisor.clients_address, check=supervisor.check) as client,
    ):
        # Once it has been answered, nothing of the connection is still to appear.
        client.status()
        yield Running(supervisor, client)
