"""Biases, penalties and bans are those of transformers, at every place of every path; and what they promise holds."""

import gc
from collections.abc import Sequence

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from specpipe.sampling.columns import Columns
from specpipe.sampling.rules import RuleBook, Rules
from specpipe.sampling.sampler import Sampler
from specpipe.sampling.spot import Spot
from specpipe.words.messages import Open
from specpipe.words.sampling import Ending, Sampling
from tests import plain
from tests.sampling.rulings import ROWS, STOPS, TEXTS, TOKENS, VOCABULARY, random_rows, samplings

WHOLE = Columns(torch.arange(VOCABULARY))


def close(one: Tensor, other: Tensor) -> bool:
    """Whether two rows are equal but for rounding, with the same tokens ruled out."""
    return torch.allclose(one, other, rtol=1e-5, atol=1e-4)


@given(ROWS, samplings(), STOPS, st.tuples(TEXTS, TEXTS, TEXTS))
def test_a_row_is_what_transformers_makes_of_it(
    row: Tensor, sampling: Sampling, stops: list[int], texts: tuple[list[int], list[int], list[int]]
) -> None:
    """With all processors mixed, each over the text that it counts (case A14)."""
    before, (prompt, output, path) = row.clone(), texts
    rules = Rules(sampling, stops, len(prompt), WHOLE)
    given_row = rules.apply(row, prompt + output, path)

    assert close(given_row, plain.ruled(row, prompt + output + path, len(prompt), sampling, stops))
    assert torch.equal(row, before)


@given(samplings(), STOPS, TEXTS, st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=1, max_size=5))
def test_what_was_drafted_leaves_no_trace(
    sampling: Sampling, stops: list[int], prompt: list[int], passes: list[tuple[list[int], list[int], list[int]]]
) -> None:
    """Rejected paths count nowhere, accepted ones once, and what was committed earlier is not forgotten (case A16)."""
    rules = Rules(sampling, stops, len(prompt), WHOLE)
    text, row = list(prompt), random_rows(1)[0]
    for committed, *paths in passes:
        text += committed
        for path in [*paths, []]:
            assert close(rules.apply(row, text, path), plain.ruled(row, text + path, len(prompt), sampling, stops))


@given(ROWS, samplings(), TEXTS, TEXTS, st.sets(TOKENS, min_size=2))
def test_a_head_over_some_tokens_counts_the_same(
    row: Tensor, sampling: Sampling, prompt: list[int], path: list[int], subset: set[int]
) -> None:
    """Tokens without a column, and those beyond the vocabulary, are nobody else's."""
    stops = [2, 7]
    ids = torch.tensor(sorted(subset))
    part, whole = (Rules(sampling, stops, len(prompt), Columns(each)) for each in (ids, torch.arange(VOCABULARY)))
    text = [*prompt, VOCABULARY + 5]
    expected, found = whole.apply(row, text, path)[ids], part.apply(row[ids], text, path)

    if not bool(expected.isneginf().all()):
        assert close(found, expected)
    assert not bool(found.isneginf().all())


def test_tokens_without_a_column_are_left_out() -> None:
    """Whatever the order, also where the head is narrower than the vocabulary."""
    assert WHOLE.find([5, VOCABULARY, 0, 99, 5]).tolist() == [5, 0, 5]
    assert Columns(torch.tensor([2, 4, 9])).find([9, 3, 2, 10, 4, 0]).tolist() == [2, 0, 1]
    assert WHOLE.find([]).tolist() == []


def written(sampling: Sampling, stops: Sequence[int], prompt: list[int], count: int, seed: int) -> list[int]:
    """Return what a sampler writes from random logits, a token after the other."""
    rules, sampler = Rules(sampling, stops, len(prompt), WHOLE), Sampler(VOCABULARY)
    text = list(prompt)
    for row in random_rows(count, seed):
        text += sampler.sample(row[None], [Spot(sampling, len(text), rules, text)]).tokens
    return text[len(prompt) :]


def holds(text: Sequence[int], word: Sequence[int]) -> bool:
    """Whether `word` is somewhere in `text`."""
    return any(tuple(text[at : at + len(word)]) == tuple(word) for at in range(len(text)))


@given(samplings(temperature=st.sampled_from([0.0, 1.0, 5.0])), STOPS, TEXTS, st.integers(0, 99))
def test_what_is_forbidden_is_never_written(sampling: Sampling, stops: list[int], prompt: list[int], seed: int) -> None:
    """No end before min_tokens, no token that is not allowed, no bad word completed, not even one begun before."""
    output = written(sampling, stops, prompt, 20, seed)

    assert not set(output[: sampling.min_tokens]) & set(stops)
    assert not sampling.allowed_ids or set(output) <= set(sampling.allowed_ids)
    for word in sampling.bad_words:
        assert not any(
            tuple([*prompt, *output[:upto]][-len(word) :]) == word and len(word) <= len(prompt) + upto
            for upto in range(1, len(output) + 1)
        )


def test_without_bans_all_of_that_would_be_written() -> None:
    """The test above would see it: a plain request writes ends, any token, and pairs of tokens."""
    output = written(Sampling(temperature=5.0), [3], [1], 200, 0)

    assert 3 in output
    assert len(set(output)) == VOCABULARY
    assert holds(output, output[7:9])


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_where_nothing_would_be_left_the_bans_give_way(temperature: float) -> None:
    """Ends and bad words may come then; what is not allowed may not, even if the model finds the rest impossible."""
    law = Sampling(temperature, allowed_ids=(4, 5), bad_words=((4,), (5, 5)), min_tokens=9)
    rules = Rules(law, [5], 1, WHOLE)
    rows = random_rows(2)
    rows[1, 4:6] = -torch.inf

    chosen = Sampler(VOCABULARY).sample(rows, [Spot(law, 7, rules, [1, 5], [])] * 2).tokens
    assert set(chosen) <= {4, 5}


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (Sampling(repetition_penalty=2.0), [1.0, -4.0, 1.5, 4.0]),
        (Sampling(presence_penalty=0.5), [2.0, -2.5, 2.5, 4.0]),
        (Sampling(frequency_penalty=0.5), [2.0, -3.0, 2.5, 4.0]),
        (Sampling(repetition_penalty=2.0, presence_penalty=1.0, frequency_penalty=0.5), [1.0, -6.0, 0.0, 4.0]),
        (Sampling(logit_bias=((3, -1.0), (0, 2.0), (3, -2.0), (99, 5.0))), [4.0, -2.0, 3.0, 1.0]),
    ],
)
def test_scores_by_hand(asked: Sampling, expected: list[float]) -> None:
    """Repetition counts the prompt (0) and the output (1, 1, and 2 on the path), the others the output alone."""
    rules = Rules(asked, [], 1, Columns(torch.arange(4)))

    assert rules.apply(torch.tensor([2.0, -2.0, 3.0, 4.0]), [0, 1, 1], [2]).tolist() == expected


class _Owner:
    """Stands for the state of a request."""


def _opened(sampling: Sampling) -> Open:
    return Open(
        request=1,
        life=0,
        mode="target",
        sampling=sampling,
        ending=Ending(9, (2,)),
        nodes=0,
        check="chain",
        prompt=np.array([1, 2], np.int32),
        committed=np.array([], np.int32),
    )


def test_rules_are_made_once_and_go_with_their_request() -> None:
    """A request that asks for none has none, and nothing is kept of one that has ended."""
    book, owner = RuleBook(WHOLE), _Owner()
    opened = _opened(Sampling(presence_penalty=1.0))
    made = book.of(owner, opened)

    assert made is not None
    assert book.of(owner, opened) is made
    assert book.of(_Owner(), _opened(Sampling(temperature=1.0, top_k=5, top_p=0.5, min_p=0.1))) is None
    assert len(book) == 1
    del owner
    gc.collect()
    assert len(book) == 0
