"""A request that a model cannot serve is refused by the coordinator, with the name of the field."""

from typing import Any

import pytest
from msgspec.structs import replace

from specpipe.minds.entry import Entry
from specpipe.minds.fitting import contradiction, unfit
from specpipe.words.sampling import Sampling
from tests.minds.house import Texts
from tests.minds.messages import ask, hello

VOCABULARY = hello("verifier").vocabulary


def reason(max_tokens: int = 20, stop_tokens: tuple[int, ...] = (), **asked: Any) -> str | None:
    """Return why a request cannot be served whose model ends with token 2."""
    asking = replace(ask(max_tokens=max_tokens, stop_tokens=stop_tokens), sampling=Sampling(**asked))
    entry = Entry(1, b"ann", asking, [5, 6], seed=0, text=Texts().text(()))
    return unfit(entry, hello("verifier"), frozenset({2}))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("logit_bias", ((3, 1.0), (VOCABULARY, 1.0), (5, 1.0))),
        ("bad_words", ((3, 4), (5, VOCABULARY, 6))),
        ("allowed_ids", (3, VOCABULARY)),
    ],
)
def test_tokens_beyond_the_vocabulary_are_named(field: str, value: Any) -> None:
    """The first id that is not there, under the name of its field (case E07)."""
    assert reason(**{field: value}) == (f"{field}: token {VOCABULARY} is beyond the model's vocabulary of {VOCABULARY}")


def test_the_last_token_of_the_vocabulary_is_there() -> None:
    """A request that asks for all of it is served."""
    last = VOCABULARY - 1

    assert reason(logit_bias=((last, 1.0),), bad_words=((last, 3),), allowed_ids=(last,), top_logprobs=20) is None
    assert reason(min_tokens=20) is None


def test_more_tokens_at_least_than_at_most_is_a_contradiction() -> None:
    """Without a most there is none."""
    assert reason(max_tokens=20, min_tokens=21) == "min_tokens: 21 is more than max_tokens, 20"
    assert reason(max_tokens=0, min_tokens=21) is None
    assert contradiction(replace(ask(max_tokens=0), sampling=Sampling(min_tokens=1 << 20))) is None


def test_trees_are_not_checked_by_rejection() -> None:
    """The shape that is left open is a chain then."""
    rejection = Sampling(acceptance="rejection")

    assert (contradiction(replace(ask(check="tree"), sampling=rejection)) or "").startswith("check: trees are not")
    assert contradiction(replace(ask(check="auto"), sampling=rejection)) is None
    assert contradiction(ask(check="tree")) is None


def test_something_must_be_left_to_choose() -> None:
    """Of the allowed tokens one at least is neither a bad word nor an end that min_tokens puts off."""
    said = "allowed_ids: all of them are bad words, or ends that min_tokens puts off; allow another"

    assert reason(allowed_ids=(3, 4), bad_words=((3,), (4,))) == said
    assert reason(allowed_ids=(2, 4, 9), bad_words=((4,),), min_tokens=1, stop_tokens=(9,)) == said
    assert reason(allowed_ids=(2, 4), bad_words=((4, 5),), min_tokens=1) is None
    assert reason(allowed_ids=(2,)) is None
