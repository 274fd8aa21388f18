"""Biases come as people and JSON write them, or are refused with the entry that is wrong."""

import math
from typing import Any

import pytest

from specpipe.client.biases import biases
from specpipe.errors import RequestError


def test_keys_may_be_text() -> None:
    """As in JSON, where they must be."""
    assert biases({"7": 5, 3: -100.0, "0": 0.5}) == ((0, 0.5), (3, -100.0), (7, 5.0))
    assert biases({}) == ()


@pytest.mark.parametrize(
    "key",
    ["-1", -1, "AB", "1.5", 1.5, "", "\u0663", 2**31, "99999999999", "9" * 5000, 10**5000, True, None],
    ids=lambda key: type(key).__name__,
)
def test_a_key_that_is_no_token_is_named(key: Any) -> None:
    """Before anything is sent (cases E07 and E08)."""
    with pytest.raises(RequestError, match=r"^logit_bias: .* is no token id"):
        biases({key: 5})


@pytest.mark.parametrize("value", [101, -100.5, 1e9, math.inf, math.nan, 10**400, 10**5000], ids=lambda _: "bias")
def test_a_bias_out_of_bounds_is_named_with_its_token(value: Any) -> None:
    """Neither cut down to size nor passed on (case E07)."""
    with pytest.raises(RequestError, match=r"^logit_bias: token '3' has .*; a bias is from -100 to 100$"):
        biases({"3": value})


@pytest.mark.parametrize("value", ["x", None, True, [5]])
def test_a_bias_that_is_no_number_is_named_with_its_token(value: Any) -> None:
    """Nothing is turned into a number (case E08)."""
    with pytest.raises(RequestError, match=r"^logit_bias: token '3' has .*; a bias is a number$"):
        biases({"3": value})


@pytest.mark.parametrize("given", [[1, 2], "3=5", None, 5])
def test_what_is_no_mapping_is_refused(given: Any) -> None:
    """A list of tokens says nothing of their biases (case E08)."""
    with pytest.raises(RequestError, match=r"^logit_bias: expected token ids with numbers"):
        biases(given)


def test_a_token_comes_once() -> None:
    """Else it would be a question which of them counts."""
    with pytest.raises(RequestError, match=r"^logit_bias: token 3 is there twice$"):
        biases({"3": 1, "03": 2})
