"""Real processes with tiny random models: every mode writes what a plain loop over the target writes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from specpipe.client.asking import Options
from specpipe.words.sampling import Mode
from tests.process.instances import Running, pair, running
from tests.reference import Reference
from tests.tiny import EOS, tiny_llama

MODES: tuple[Mode, ...] = ("pipelined", "sequential", "target")
PROMPTS = ["a", "the people said that", "one way to write is to " * 20, "water " * 300]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A target, a noised copy of it, and a model that has nothing to do with it."""
    base = tmp_path_factory.mktemp("models")
    target = tiny_llama(base / "target", 1)
    return {
        "target": target,
        "noised": tiny_llama(base / "noised", 2, noise_of=target, scale=0.03),
        "random": tiny_llama(base / "random", 3),
    }


@pytest.fixture(scope="module", params=["noised", "random", "target"])
def instance(request: pytest.FixtureRequest, folders: dict[str, Path]) -> Iterator[Running]:
    """An instance with one of the drafts."""
    with running(pair(folders["target"], folders[request.param])) as started:
        yield started


@pytest.fixture(scope="module")
def reference(folders: dict[str, Path]) -> Reference:
    """The target in transformers."""
    return Reference(folders["target"])


@pytest.mark.parametrize("prompt", PROMPTS)
def test_greedy_text_is_the_plain_loops(instance: Running, reference: Reference, prompt: str) -> None:
    """All modes give the tokens of transformers and a loop."""
    told = {mode: instance.tell(prompt, Options(mode=mode, max_tokens=40)) for mode in MODES}
    prompt_ids = tokens_of(prompt, instance)

    expected = reference.greedy(prompt_ids, 40, {EOS})

    assert {mode: each.tokens for mode, each in told.items()} == dict.fromkeys(MODES, expected)


@pytest.mark.parametrize("options", [{"temperature": 0.8}, {"temperature": 1.0, "top_k": 20, "top_p": 0.9}])
def test_sampled_text_depends_on_the_seed_alone(instance: Running, options: dict[str, float]) -> None:
    """The same seed gives the same tokens in every mode; another seed others."""
    told = [
        instance.tell("the first day", Options(mode=mode, max_tokens=80, seed=seed, **options))  # type: ignore[arg-type]
        for seed in (2**64 - 1, 7)
        for mode in MODES
    ]

    assert told[0].tokens == told[1].tokens == told[2].tokens
    assert told[3].tokens == told[4].tokens == told[5].tokens
    assert told[0].tokens != told[3].tokens


def test_every_budget_is_met_to_the_token(instance: Running) -> None:
    """Blocks that would cross the budget are cut, and usage says what was delivered."""
    for budget in range(1, 20):
        told = instance.tell("old men", Options(max_tokens=budget, nodes=8, ignore_eos=True))

        assert len(told.tokens) == told.completion_tokens == budget
        assert told.finish_reason == "length"


def test_a_copy_of_the_target_is_accepted_wholly(folders: dict[str, Path]) -> None:
    """Draft and target being one model, every checked guess is right at any temperature, or some cache is wrong."""
    with running(pair(folders["target"], folders["target"])) as instance:
        for temperature in (0.0, 0.8, 1.5):
            for mode in ("pipelined", "sequential"):
                told = instance.tell(
                    "number one", Options(mode=mode, max_tokens=150, temperature=temperature, ignore_eos=True)
                )

                assert told.stats.accepted_tokens == told.stats.checked_tokens
                # How much arrives in time is for the machine to say, except where the verifier waits for it.
                assert told.stats.accepted_tokens > 0 or mode == "pipelined"


def tokens_of(prompt: str, instance: Running) -> list[int]:
    """Return a prompt's ids, by the tokenizers library itself."""
    from tokenizers import Tokenizer

    return Tokenizer.from_file(f"{instance.supervisor.settings.target.name}/tokenizer.json").encode(prompt).ids
