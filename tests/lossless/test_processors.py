"""With biases, penalties and bans, answers are a plain loop's with transformers' processors and the same noise."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from specpipe.client.asking import Options, ask_text
from specpipe.client.choices import choices
from specpipe.words.messages import Failed
from specpipe.words.sampling import Mode, Sampling, choice_seed
from tests.lossless.proof import ids_of, strayed
from tests.process.instances import Running, gather, pair, running
from tests.reference import Reference
from tests.tiny import EOS, tiny_llama

MODES: list[Mode] = ["pipelined", "sequential", "target"]
PROMPT = "the people said that the people said that the"
ALL: dict[str, Any] = {
    "temperature": 0.9, "top_k": 60, "top_p": 0.95, "min_p": 0.01, "seed": 2**63 + 5,
    "repetition_penalty": 1.2, "presence_penalty": 0.4, "frequency_penalty": 0.3,
    "logit_bias": ((EOS, 4.0), (40, -3.0), (300, 2.5)), "min_tokens": 70,
    "bad_words": ((77,), (300, 301), (260, 261, 262)), "allowed_ids": tuple(range(500)),
}  # fmt: skip
MIXED: list[dict[str, Any]] = [
    ALL,
    ALL | {"temperature": 0.0},
    {"repetition_penalty": 1.3},
    {"temperature": 1.0, "seed": 4, "frequency_penalty": 2.0},
    {},
    {"allowed_ids": tuple(range(30, 60)), "bad_words": ((30,), (31, 31))},
]


def sampling(asked: dict[str, Any]) -> Sampling:
    """Return what the reference is told of a request."""
    return Sampling(**asked)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("temperature", [0.0, 0.9])
def test_all_processors_mixed_are_the_plain_loops(
    noisy: Running, reference: Reference, mode: Mode, temperature: float
) -> None:
    """At every position of every block, with the history of its own path."""
    asked = ALL | {"temperature": temperature}
    told = noisy.tell(PROMPT, Options(mode=mode, nodes=5, max_tokens=150, **asked))

    assert len(told.tokens) > 70
    assert strayed(reference, ids_of(PROMPT, noisy), told.tokens, sampling(asked), [EOS]) == []
    assert strayed(reference, ids_of(PROMPT, noisy), told.tokens, sampling({}), [EOS]) != []
    assert told.tokens == noisy.tell(PROMPT, Options(max_tokens=150, mode="target", **asked)).tokens


def test_trees_too_are_checked_with_the_history_of_each_path(noisy: Running, reference: Reference) -> None:
    """Neighbouring branches have other histories."""
    told = noisy.tell(PROMPT, Options(check="tree", nodes=12, max_tokens=150, **ALL))

    assert strayed(reference, ids_of(PROMPT, noisy), told.tokens, sampling(ALL), [EOS]) == []


@pytest.mark.parametrize(
    "asked",
    [
        {"frequency_penalty": -2.0},
        {"frequency_penalty": 2.0},
        {"presence_penalty": -2.0},
        {"presence_penalty": 2.0},
        {"repetition_penalty": 0.8},
        {"repetition_penalty": 1.3},
    ],
    ids=str,
)
def test_each_penalty_is_applied_under_speculation(
    noisy: Running, reference: Reference, asked: dict[str, float]
) -> None:
    """None is taken and then forgotten (case A14)."""
    prompt = "water " * 12
    options = Options(max_tokens=32, nodes=4, ignore_eos=True)
    told = noisy.tell(prompt, replace(options, **asked))  # type: ignore[arg-type]

    assert strayed(reference, ids_of(prompt, noisy), told.tokens, sampling(asked)) == []


@pytest.mark.parametrize("mode", MODES)
def test_a_copy_of_the_target_is_right_under_any_rules(copied: Running, mode: Mode) -> None:
    """The drafter applies the same rules to its guesses, or they would be rejected."""
    told = copied.tell(PROMPT, Options(mode=mode, nodes=5, max_tokens=100, **ALL))

    assert told.stats.accepted_tokens == told.stats.checked_tokens
    assert mode != "sequential" or told.stats.accepted_tokens > 60


@pytest.fixture(scope="module")
def wrong(target: Path) -> Iterator[Running]:
    """An instance whose draft has nothing to do with its target."""
    with running(pair(target, tiny_llama(target.with_name("wrong"), 99))) as started:
        yield started


@pytest.mark.parametrize("mode", MODES)
def test_rejected_tokens_are_not_counted(wrong: Running, reference: Reference, mode: Mode) -> None:
    """Nearly all guesses are wrong here, and accepted ones count once (case A16)."""
    asked = {"presence_penalty": 0.7, "frequency_penalty": 0.7}
    told = wrong.tell(PROMPT, Options(mode=mode, nodes=8, max_tokens=64, ignore_eos=True, **asked))  # type: ignore[arg-type]

    assert strayed(reference, ids_of(PROMPT, wrong), told.tokens, sampling(asked)) == []


@pytest.mark.parametrize("nodes", [1, 8])
@pytest.mark.parametrize("mode", MODES)
def test_no_end_comes_before_min_tokens(noisy: Running, nodes: int, mode: Mode) -> None:
    """And with such a bias it comes right after (case A18); a stop token of the request's own as well."""
    options = Options(mode=mode, nodes=nodes, max_tokens=40, min_tokens=12, logit_bias=((EOS, 50.0),))
    told = noisy.tell(PROMPT, options)
    own = noisy.tell(PROMPT, replace(options, logit_bias=((9, 50.0),), stop_tokens=(9,), ignore_eos=True))

    assert (len(told.tokens), told.tokens.index(EOS), told.finish_reason) == (13, 12, "stop")
    assert (len(own.tokens), own.tokens.index(9), own.finish_reason) == (13, 12, "stop")


def test_bad_words_and_other_tokens_are_never_written(noisy: Running) -> None:
    """Neither in blocks nor across them; without the ban they would be."""
    free = noisy.tell(PROMPT, Options(max_tokens=100, ignore_eos=True)).tokens
    words = tuple({(free[0],), tuple(free[1:3]), tuple(free[4:7]), tuple(free[50:52])})
    told = noisy.tell(PROMPT, Options(max_tokens=100, nodes=6, ignore_eos=True, bad_words=words)).tokens
    few = noisy.tell(PROMPT, Options(max_tokens=60, nodes=6, allowed_ids=(30, 31, 32), temperature=3.0, seed=1)).tokens

    assert not any(tuple(told[at : at + len(word)]) == word for word in words for at in range(len(told)))
    assert (len(few), set(few)) == (60, {30, 31, 32})


@pytest.mark.parametrize("mode", ["pipelined", "sequential"])
def test_requests_of_one_pass_do_not_touch_each_other(noisy: Running, reference: Reference, mode: Mode) -> None:
    """Each is what the plain loop writes for it alone, whatever rules the others have."""
    prompts = [PROMPT, "water " * 20, "one", PROMPT, PROMPT, "two of the old men"]
    options = [Options(mode=mode, nodes=4, max_tokens=80, ignore_eos=True, **asked) for asked in MIXED]
    started = [noisy.start(prompt, each) for prompt, each in zip(prompts, options, strict=True)]
    told = [gather(answers).tokens for answers in started]

    for prompt, asked, tokens in zip(prompts, MIXED, told, strict=True):
        assert len(tokens) == 80
        assert strayed(reference, ids_of(prompt, noisy), tokens, sampling(asked)) == []


def test_choices_are_requests_with_seeds_of_their_own(noisy: Running, reference: Reference) -> None:
    """The first is the single answer; each is the plain loop's for its seed, and all differ."""
    options = Options(temperature=1.0, seed=7, max_tokens=30, ignore_eos=True)
    started = [noisy.client.ask(each) for each in choices(ask_text(PROMPT, options), 5)]
    told = [gather(answers) for answers in started]

    assert told[0].tokens == noisy.tell(PROMPT, options).tokens
    assert len({tuple(each.tokens) for each in told}) == 5
    for number, each in enumerate(told):
        law = Sampling(temperature=1.0, seed=choice_seed(7, number))
        assert each.seed == law.seed
        assert strayed(reference, ids_of(PROMPT, noisy), each.tokens, law) == []


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"logit_bias": ((512, 1.0),)}, "logit_bias: token 512 is beyond the model's vocabulary of 512"),
        ({"logit_bias": ((999_999_999, 1.0),)}, "logit_bias: token 999999999 is beyond"),
        ({"bad_words": ((3, 512),)}, "bad_words: token 512 is beyond"),
        ({"allowed_ids": (512,)}, "allowed_ids: token 512 is beyond"),
        ({"allowed_ids": (EOS,), "min_tokens": 3}, "allowed_ids: all of them are bad words, or ends"),
    ],
)
def test_what_the_model_does_not_have_is_refused_and_hurts_nobody(
    noisy: Running, reference: Reference, asked: dict[str, Any], said: str
) -> None:
    """One sentence names the field; the next request is fine (cases E07 and E08)."""
    (refused,) = list(noisy.start(PROMPT, Options(max_tokens=10, **asked)))
    told = noisy.tell(PROMPT, Options(max_tokens=10))

    assert isinstance(refused, Failed)
    assert (refused.kind, refused.reason[: len(said)]) == ("refused", said)
    assert strayed(reference, ids_of(PROMPT, noisy), told.tokens, Sampling()) == []
