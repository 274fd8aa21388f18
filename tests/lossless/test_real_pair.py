"""SmolLM2 with its shipped draft: every mode writes the same tokens, and in float32 those of transformers."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from specpipe.client.asking import Options
from specpipe.models.catalogue import resolve_target
from specpipe.words.sampling import Mode
from tests.process.instances import Running, Told, pair, running
from tests.reference import Reference

pytestmark = [pytest.mark.real, pytest.mark.timeout(400)]

MODES: tuple[Mode, ...] = ("pipelined", "sequential", "target")
SHORT = [504]
STORY = list(range(1000, 1600))
ASKED = [1, 4093, 198, 11470, 253, 1838, 2100, 563, 253, 3365, 282, 260, 5264, 30, 2, 198, 1, 520, 9531, 198]


@pytest.fixture(scope="module", params=["float32", "bfloat16"])
def instance(request: pytest.FixtureRequest) -> Iterator[Running]:
    """The default pair in one arithmetic."""
    with running(pair("smollm2", "auto", dtype=request.param)) as started:
        yield started


@pytest.mark.parametrize("prompt", [SHORT, ASKED, STORY], ids=["1 token", "a chat", "600 tokens"])
@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_all_modes_write_the_same(instance: Running, prompt: list[int], temperature: float) -> None:
    """For one seed the text does not depend on the mode, whatever the prompt and the temperature."""
    told = [told_in(mode, instance, prompt, temperature) for mode in MODES]

    assert told[0].tokens == told[1].tokens == told[2].tokens
    assert told[0].stats.accepted_tokens > 0


@pytest.mark.parametrize("instance", ["float32"], indirect=True)
def test_greedy_text_is_that_of_transformers(instance: Running) -> None:
    """Up to the first near tie the tokens are those of a plain loop; from there those of the loop continued."""
    folder = resolve_target("smollm2")
    assert isinstance(folder, Path)
    reference = Reference(folder, torch.float32)
    told = told_in("pipelined", instance, ASKED, 0.0)

    ours = ASKED + told.tokens
    for at in disagreements(reference, ours, len(ASKED)):
        assert reference.margin(ours[:at]) < 1e-3


def disagreements(reference: Reference, tokens: list[int], prompt: int) -> list[int]:
    """Return where the reference, shown the text so far, would have gone on otherwise."""
    best = reference.logits(tokens[:-1])[prompt - 1 :].argmax(-1).tolist()
    return [prompt + index for index, token in enumerate(best) if token != tokens[prompt + index]]


def told_in(mode: Mode, instance: Running, prompt: list[int], temperature: float) -> Told:
    """Return an answer of 64 tokens."""
    return instance.tell(prompt, Options(mode=mode, max_tokens=64, temperature=temperature, seed=5, ignore_eos=True))
