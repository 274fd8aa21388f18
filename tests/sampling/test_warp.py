"""Processors keep what their definitions say, and ties at an edge go to the lowest tokens."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from specpipe.sampling.warp import kept, min_p, processed, temper, top_k, top_p
from specpipe.words.sampling import Sampling
from tests import plain

NUMBERS = st.floats(-20, 20, width=32) | st.sampled_from([-1.0, 0.0, -0.0, 1.0])
ROWS = st.lists(NUMBERS, min_size=1, max_size=80).map(lambda row: torch.tensor(row, dtype=torch.float32))


def by_hand(scores: torch.Tensor) -> list[int]:
    """Return the columns, best first, the lowest of equals first."""
    row = scores.tolist()
    return sorted(range(len(row)), key=lambda column: (-row[column], column))


@given(ROWS, st.integers(1, 80))
def test_top_k_keeps_the_best_k(scores: torch.Tensor, k: int) -> None:
    """Exactly k columns stay, the best ones, the lowest where scores tie."""
    k = min(k, len(scores))

    assert top_k(scores, k).tolist() == sorted(by_hand(scores)[:k])


@given(ROWS, st.floats(1e-6, 0.9999))
def test_top_p_keeps_the_smallest_sufficient_set(scores: torch.Tensor, p: float) -> None:
    """The kept columns are the first of the ranking whose probability reaches p, and none fewer would do."""
    columns = top_p(scores, p).tolist()
    ranking = by_hand(scores)[: len(columns)]
    chances = scores.double().softmax(0)

    assert columns == sorted(ranking)
    assert float(chances[ranking].sum()) >= p - 1e-5
    assert float(chances[ranking[:-1]].sum()) < p + 1e-5


def test_top_p_takes_the_lowest_of_equals() -> None:
    """Four equal tokens and p = .5: the two lowest stay."""
    assert top_p(torch.zeros(4), 0.5).tolist() == [0, 1]


def test_top_p_keeps_one_token_at_least() -> None:
    """However small p is, the best token stays."""
    assert top_p(torch.tensor([0.0, 3.0, 3.0]), 1e-6).tolist() == [1]


def test_top_p_sees_only_what_top_k_left() -> None:
    """The order is temperature, top-k, top-p: probabilities are those among the k."""
    logits = torch.tensor([0.5, 0.3, 0.1, 0.1]).log()

    assert kept(logits, Sampling(temperature=1.0, top_k=2, top_p=0.6)).columns is not None
    assert processed(logits, Sampling(temperature=1.0, top_k=2, top_p=0.6)).isfinite().tolist() == [True] + [False] * 3
    assert processed(logits, Sampling(temperature=1.0, top_p=0.6)).isfinite().tolist() == [True, True, False, False]


@given(ROWS, st.floats(1e-6, 1.0))
def test_min_p_keeps_a_share_of_the_best(logits: torch.Tensor, p: float) -> None:
    """All that are at least that share of the best one's probability stay, and no others."""
    scores = temper(logits, 1.0)
    chances = scores.double().exp()
    columns = min_p(scores, p).tolist()

    assert columns == sorted(columns)
    assert int(logits.argmax()) in columns
    assert {at for at, chance in enumerate(chances.tolist()) if chance >= p * (1 + 1e-5)} <= set(columns)
    assert set(columns) <= {at for at, chance in enumerate(chances.tolist()) if chance >= p * (1 - 1e-5)}


# Distinct scores, since transformers keeps all that tie at an edge.
@given(
    st.lists(st.integers(-2000, 2000), min_size=2, max_size=40, unique=True),
    st.builds(
        Sampling,
        temperature=st.floats(0.3, 3.0),
        top_k=st.integers(0, 45),
        top_p=st.floats(0.05, 1.0),
        min_p=st.floats(0.0, 0.5),
    ),
)
def test_all_in_their_order_are_those_of_transformers(row: list[int], sampling: Sampling) -> None:
    """Where both say that a token stays its score is the same; at most one next to an edge may differ by rounding."""
    logits = torch.tensor(row, dtype=torch.float32) / 100
    found, expected = processed(logits, sampling), plain.warped(logits, sampling)
    both = found.isfinite() & expected.isfinite()

    assert int((found.isfinite() != expected.isfinite()).sum()) <= 1
    assert torch.allclose(found[both].softmax(0), expected[both].softmax(0), atol=1e-5)


def test_min_p_sees_what_top_p_left_and_the_temperature_did() -> None:
    """The threshold is relative to the best after the temperature."""
    logits = torch.tensor([0.6, 0.3, 0.1]).log()

    assert processed(logits, Sampling(1.0, min_p=0.4)).isfinite().tolist() == [True, True, False]
    assert processed(logits, Sampling(0.5, min_p=0.4)).isfinite().tolist() == [True, False, False]
    assert processed(logits, Sampling(1.0, 2, min_p=0.1)).isfinite().tolist() == [True, True, False]


def test_top_p_works_after_the_temperature() -> None:
    """A hotter row spreads its probability over more tokens, so more stay."""
    logits = torch.tensor([4.0, 2.0, 1.0, 0.0])

    assert int(processed(logits, Sampling(temperature=0.5, top_p=0.9)).isfinite().sum()) == 1
    assert int(processed(logits, Sampling(temperature=4.0, top_p=0.9)).isfinite().sum()) == 4


@pytest.mark.parametrize("temperature", [1e-300, 1e-45, 1e-30, 1e-3, 0.8, 1.0, 100.0])
def test_no_temperature_overflows(temperature: float) -> None:
    """The best token stays the best, at 0, and nothing becomes NaN or plus infinity."""
    scores = temper(torch.tensor([-3e38, 5.0, 5.5, -torch.inf]), temperature)

    assert scores.argmax() == 2
    assert scores[2] == 0.0
    assert (scores <= 0.0).all()


@given(ROWS, st.sampled_from([0.3, 1.0, 2.0]))
def test_processed_rows_spread_the_kept_scores(logits: torch.Tensor, temperature: float) -> None:
    """`processed` and `kept` are two views of one thing; without limits all columns stay."""
    sampling = Sampling(temperature=temperature, top_k=7, top_p=0.8)
    left = kept(logits, sampling)
    whole = processed(logits, sampling)

    assert left.columns is not None
    assert whole.isfinite().nonzero()[:, 0].tolist() == left.columns.tolist()
    assert torch.equal(whole[left.columns], left.scores)
    assert kept(logits, Sampling(temperature=temperature)).columns is None


def test_removed_logits_are_never_kept_by_top_p() -> None:
    """A token with logit minus infinity has no probability, so no p < 1 needs it."""
    logits = torch.tensor([-torch.inf, 0.0, 0.0])

    assert top_p(logits, 0.999).tolist() == [1, 2]
