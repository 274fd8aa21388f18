"""One instance that all tests of this folder do their worst to, and what it has to answer all the same."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from specpipe.client.asking import Options
from tests.process.instances import Running, pair, running
from tests.reference import Reference
from tests.tiny import EOS, tiny_llama

PROMPTS = ([5, 6, 7], [30] * 20, list(range(50, 90)), [400], [9, 8, 7, 6, 5])
TOKENS = 16


@dataclass(frozen=True, slots=True)
class Served:
    """A running instance, and what a plain loop over its target writes after each of the prompts."""

    instance: Running
    written: list[list[int]]

    def is_well(self, rounds: int = 4) -> bool:
        """Tell whether requests are answered as ever: five a round, each in all."""
        told = [self.instance.tell(prompt, Options(max_tokens=TOKENS)).tokens for prompt in PROMPTS * rounds]
        return told == self.written * rounds


@pytest.fixture(scope="package")
def models(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A target and a noised copy of it."""
    base = tmp_path_factory.mktemp("models")
    target = tiny_llama(base / "target", 1)
    return target, tiny_llama(base / "noised", 2, noise_of=target, scale=0.03)


@pytest.fixture(scope="package")
def served(models: tuple[Path, Path]) -> Iterator[Served]:
    """The instance."""
    reference = Reference(models[0])
    written = [reference.greedy(prompt, TOKENS, {EOS}) for prompt in PROMPTS]
    with running(pair(*models)) as instance:
        yield Served(instance, written)
