"""The options of sampling become what the client library asks for."""

from typing import Any

import click
import pytest
from click.testing import CliRunner

from specpipe.cli.sampling import options_of, sampling_options
from specpipe.client.asking import Options
from specpipe.errors import RequestError
from specpipe.settings import SpeculationSettings


def asked(*words: str) -> Options:
    """Return what the words of a command line ask for."""
    found: list[Options] = []

    @click.command()
    @sampling_options
    def command(**flags: Any) -> None:
        found.append(options_of(flags, SpeculationSettings()))

    result = CliRunner().invoke(command, words, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return found[0]


def test_without_words_nothing_is_asked_for() -> None:
    """But for a bound on the answer's length."""
    assert asked() == Options(max_tokens=256)


def test_every_word_is_passed_on() -> None:
    """Under the name that the client library has for it."""
    words = (
        "--max-tokens 9 --min-tokens 2 --temperature 0.8 --top-p 0.9 --top-k 5 --min-p 0.1 --repetition-penalty 1.2 "
        "--presence-penalty 0.5 --frequency-penalty -0.5 --logit-bias 42=-100 --logit-bias 7=1.5 --bad-words 5,17 "
        "--bad-words 3 --allowed-ids 5,6 --allowed-ids 7 --seed 3 --stop a --stop b --ignore-eos --logprobs 4"
    )

    assert asked(*words.split()) == Options(
        max_tokens=9,
        min_tokens=2,
        temperature=0.8,
        top_p=0.9,
        top_k=5,
        min_p=0.1,
        repetition_penalty=1.2,
        presence_penalty=0.5,
        frequency_penalty=-0.5,
        logit_bias=((7, 1.5), (42, -100.0)),
        bad_words=((5, 17), (3,)),
        allowed_ids=(5, 6, 7),
        seed=3,
        stop=("a", "b"),
        ignore_eos=True,
        top_logprobs=4,
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--logit-bias", "5"), r"^logit_bias: expected ID=BIAS, as in 42=-100, got '5'$"),
        (("--logit-bias", "5=x"), r"^logit_bias: expected ID=BIAS"),
        (("--logit-bias", "AB=5"), r"^logit_bias: 'AB' is no token id"),
        (("--logit-bias", "5=nan"), r"^logit_bias: token '5' has nan"),
        (("--logit-bias", "5=1e9"), r"^logit_bias: token '5' has 1000000000.0; a bias is from -100 to 100$"),
        (("--logit-bias", "5=1", "--logit-bias", "05=2"), r"^logit_bias: token 5 is there twice$"),
        (("--logit-bias", "5=1", "--logit-bias", "5=2"), r"^logit_bias: token 5 is there twice$"),
        (("--bad-words", "5,,6"), r"^bad_words: expected token ids with commas"),
        (("--bad-words", "water"), r"^bad_words: expected token ids with commas"),
        (("--allowed-ids", "-5"), r"^allowed_ids: expected token ids with commas"),
        (("--allowed-ids", ""), r"^allowed_ids: expected token ids with commas"),
    ],
)
def test_what_is_no_number_is_named(words: tuple[str, ...], said: str) -> None:
    """With what was expected there (cases E07 and E08)."""
    with pytest.raises(RequestError, match=said):
        asked(*words)
