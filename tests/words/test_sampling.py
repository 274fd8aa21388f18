"""What a request may ask of sampling."""

from typing import Any

import msgspec
import pytest
from hypothesis import given

from specpipe.words.sampling import MAX_SEED, MAX_TOKENS, Ending, Sampling
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
    ],
)
def test_anything_out_of_range_is_refused(fields: dict[str, Any]) -> None:
    """Wrong types, values out of range and unknown names are errors."""
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(fields, Sampling)


def test_only_temperature_zero_is_greedy() -> None:
    """The smallest temperature above 0 still draws."""
    assert Sampling(temperature=0.0).greedy
    assert not Sampling(temperature=5e-324).greedy


@pytest.mark.parametrize(
    "fields",
    [{}, {"max_tokens": 0}, {"max_tokens": -1}, {"max_tokens": MAX_TOKENS + 1}, {"max_tokens": 1, "stop_tokens": [-1]}],
)
def test_an_ending_has_a_budget_and_token_ids(fields: dict[str, Any]) -> None:
    """A request without a bound, or with stop tokens that are none, is refused."""
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(fields, Ending)
