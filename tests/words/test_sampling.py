"""What a request may ask of sampling."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specpipe.words.sampling import MAX_CHOICES, MAX_SEED, MAX_TOKENS, Ending, Sampling, choice_seed
from tests.words.strategies import samplings


@given(samplings())
def test_valid_parameters_survive_plain_values(sampling: Sampling) -> None:
    """What goes to plain values comes back equal."""
    assert msgspec.convert(msgspec.to_builtins(sampling), Sampling) == sampling


@pytest.mark.parametrize("seed", [0, 1, (1 << 31), (1 << 63) - 1, 1 << 63, MAX_SEED])
def test_every_unsigned_64_bit_seed_is_taken(seed: int) -> None:
    """The whole range of seeds works, beyond signed integers too."""
    assert msgspec.convert({"seed": seed}, Sampling).seed == seed


@pytest.mark.parametrize(
    "fields",
    [
        {"seed": -1},
        {"seed": MAX_SEED + 1},
        {"seed": 1.5},
        {"seed": "7"},
        {"seed": True},
        {"temperature": -0.1},
        {"temperature": float("nan")},
        {"temperature": float("inf")},
        {"top_p": 0.0},
        {"top_p": 1.1},
        {"top_k": -1},
        {"top_a": 1},
        {"min_p": -0.1},
        {"min_p": 1.1},
        {"min_p": float("nan")},
        {"repetition_penalty": 0.0},
        {"repetition_penalty": float("inf")},
        {"repetition_penalty": float("nan")},
        {"presence_penalty": 2.1},
        {"presence_penalty": float("nan")},
        {"frequency_penalty": -2.1},
        {"frequency_penalty": "2"},
        {"logit_bias": [[3, 101]]},
        {"logit_bias": [[3, 1e9]]},
        {"logit_bias": [[3, float("nan")]]},
        {"logit_bias": [[3, None]]},
        {"logit_bias": [[-1, 1]]},
        {"logit_bias": [[1 << 31, 1]]},
        {"logit_bias": [["3", 1]]},
        {"logit_bias": [[3]]},
        {"logit_bias": [1, 2]},
        {"logit_bias": {"3": 1}},
        {"logit_bias": [[token, 1] for token in range(1025)]},
        {"min_tokens": -1},
        {"min_tokens": 1.5},
        {"min_tokens": MAX_TOKENS + 1},
        {"bad_words": [[]]},
        {"bad_words": [3]},
        {"bad_words": [[-1]]},
        {"bad_words": [[3] * 65]},
        {"bad_words": [[3]] * 257},
        {"allowed_ids": [-1]},
        {"allowed_ids": [True]},
        {"allowed_ids": list(range(4097))},
        {"top_logprobs": -1},
        {"top_logprobs": 21},
        {"top_logprobs": True},
    ],
)
def test_anything_out_of_range_is_refused(fields: dict[str, Any]) -> None:
    """Wrong types, values out of range, too many entries and unknown names are errors (cases E07, E08, E16)."""
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(fields, Sampling)


def test_the_law_that_leaves_one_token_is_greedy() -> None:
    """Temperature 0, and what keeps the best token only; the smallest temperature above 0 still draws."""
    assert Sampling(temperature=0.0).greedy
    assert Sampling(1.0, top_k=1).greedy
    assert Sampling(1.0, min_p=1.0).greedy
    assert not Sampling(temperature=5e-324).greedy
    assert not Sampling(1.0, top_k=2, min_p=0.999).greedy


@pytest.mark.parametrize(
    "asked",
    [
        {"repetition_penalty": 1.1},
        {"presence_penalty": -0.1},
        {"frequency_penalty": 0.1},
        {"logit_bias": ((3, 0.0),)},
        {"min_tokens": 1},
        {"bad_words": ((3,),)},
        {"allowed_ids": (3,)},
    ],
)
def test_a_plain_request_has_no_rules(asked: dict[str, Any]) -> None:
    """So that nothing is made ready for it, and no history is looked at."""
    assert not Sampling(1.0, 5, 0.9, 7, 0.1, top_logprobs=20).ruled
    assert Sampling(**asked).ruled
    assert Sampling(**asked).penalised == any("penalty" in name for name in asked)


@given(st.integers(0, MAX_SEED))
def test_each_choice_has_a_seed_of_its_own(seed: int) -> None:
    """The first has the request's, so that one of several answers is the one that a single request gets."""
    seeds = [choice_seed(seed, choice) for choice in range(MAX_CHOICES)]

    assert seeds[0] == seed
    assert len(set(seeds)) == MAX_CHOICES
    assert all(0 <= each <= MAX_SEED for each in seeds)
    assert seeds == [choice_seed(seed, choice) for choice in range(MAX_CHOICES)]


@pytest.mark.parametrize(
    "fields",
    [{}, {"max_tokens": 0}, {"max_tokens": -1}, {"max_tokens": MAX_TOKENS + 1}, {"max_tokens": 1, "stop_tokens": [-1]}],
)
def test_an_ending_has_a_budget_and_token_ids(fields: dict[str, Any]) -> None:
    """A request without a bound, or with stop tokens that are none, is refused."""
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(fields, Ending)
