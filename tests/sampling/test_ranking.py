"""The lowest column wins every tie, in every place."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from specpipe.errors import WorkerError
from specpipe.sampling.ranking import at_least, falling, first_maximum, ranked, require_numbers

ROWS = st.lists(st.sampled_from([-torch.inf, -1.0, -0.0, 0.0, 0.5, 1.0]), min_size=1, max_size=70)


def by_hand(row: list[float]) -> list[int]:
    """Return the columns, best first, the lowest of equals first."""
    return sorted(range(len(row)), key=lambda column: (-row[column], column))


@given(ROWS)
def test_the_first_maximum_is_the_lowest_column(row: list[float]) -> None:
    """Of equal scores the lowest column is best; minus zero equals zero."""
    scores = torch.tensor([row])

    assert first_maximum(scores).tolist() == [by_hand(row)[0]]
    assert first_maximum(scores.double()).tolist() == [by_hand(row)[0]]
    assert scores.argmax(-1).tolist() == [by_hand(row)[0]]


def test_ties_far_apart_still_go_to_the_lowest_column() -> None:
    """Wide rows are searched in vectors and chunks; the first of equals wins all the same."""
    scores = torch.zeros(3, 49152)
    scores[1, 40000:] = 1
    scores[2, [33, 49151]] = 1

    assert first_maximum(scores).tolist() == [0, 40000, 33]


@given(ROWS)
def test_ranks_follow_score_and_then_column(row: list[float]) -> None:
    """The best few are in order, and what is gone or missing counts as minus infinity."""
    columns, values = ranked(torch.tensor([row]), 5)
    finite = [column for column in by_hand(row) if row[column] > -torch.inf][:5]

    assert columns[0, : len(finite)].tolist() == finite
    assert values[0, : len(finite)].tolist() == [row[column] for column in finite]
    assert values[0, len(finite) :].isneginf().all()


@given(ROWS)
def test_searching_and_sorting_agree_with_the_definition(row: list[float]) -> None:
    """`at_least` finds all columns from an edge on, `falling` sorts."""
    scores = torch.tensor(row)

    assert at_least(scores, torch.tensor(0.0)).tolist() == [i for i, score in enumerate(row) if score >= 0]
    assert falling(scores).tolist() == sorted(row, reverse=True)


def test_ranking_leaves_the_scores_alone() -> None:
    """The scores handed in are not written to."""
    scores = torch.tensor([[1.0, 2.0, 3.0]])
    ranked(scores, 2)

    assert scores.tolist() == [[1.0, 2.0, 3.0]]


def test_what_is_not_a_number_is_a_workers_failure() -> None:
    """NaN raises; minus infinity is an honest log-probability of zero."""
    require_numbers(torch.tensor([-torch.inf, 0.0]))
    with pytest.raises(WorkerError, match="not finite"):
        require_numbers(torch.tensor([0.0, torch.nan]))
