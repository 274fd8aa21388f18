"""Several answers, echoed prompts and log-probabilities, as the real command prints them."""

import json
from pathlib import Path

import pytest

from specpipe.words.sampling import choice_seed
from tests.cli.test_refusals import generate
from tests.tiny import tiny_llama

PROMPT = "the first day"


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A target."""
    return tiny_llama(tmp_path_factory.mktemp("models") / "target", 1)


def answered(target: Path, *words: str) -> bytes:
    """Return what the command prints for six tokens after the prompt."""
    places = ("--target", str(target), "--draft", str(target), "--raw", "--max-tokens", "6", "--ignore-eos")
    ended = generate(*places, "--temperature", "1", "--seed", "7", *words, PROMPT)
    assert (ended.returncode, ended.stderr) == (0, b"")
    return ended.stdout


def test_choices_are_answers_of_which_the_first_is_the_single_one(target: Path) -> None:
    """In one object, each with its seed, tokens and log-probabilities."""
    single = json.loads(answered(target, "--json", "--echo"))
    several = json.loads(answered(target, "--json", "--echo", "-n", "3", "--logprobs", "2"))["choices"]

    assert [each["seed"] for each in several] == [choice_seed(7, number) for number in range(3)]
    assert (several[0]["text"], several[0]["token_ids"]) == (single["text"], single["token_ids"])
    assert len({each["text"] for each in several}) == 3
    for each in several:
        assert each["text"].startswith(PROMPT)
        assert [entry["token_id"] for entry in each["logprobs"]] == each["token_ids"]
        assert all(len(entry["top"]) == 2 and entry["logprob"] < 0 for entry in each["logprobs"])
    assert "logprobs" not in single


def test_as_text_they_follow_one_another(target: Path) -> None:
    """Each after the prompt if that is echoed, with a free line between them."""
    described = json.loads(answered(target, "--json", "-n", "2"))["choices"]
    expected = "\n".join(f"{PROMPT}{each['text']}\n" for each in described)

    assert answered(target, "--echo", "-n", "2").decode() == expected
