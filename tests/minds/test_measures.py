"""What one request cost and gained."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specpipe.minds.measures import Busy, Interval, Tally, stats
from tests.minds.messages import verdict


def tally(*passes: Interval, tokens: int = 2, checked: int = 3) -> Tally:
    """Return the tally of a request opened at 0 whose passes committed `tokens` each."""
    made = Tally(0.0)
    for at, (began, ended) in enumerate(passes):
        made.add(verdict([1] * tokens, at * tokens, checked=checked, began=began, ended=ended), ended)
    return made


def busy(*steps: Interval, edges: int = 0) -> Busy:
    """Return a drafter that worked then."""
    made = Busy()
    made.add(steps, edges)
    return made


def test_a_request_without_a_pass_has_no_figures() -> None:
    """Nothing is divided by nothing."""
    assert stats(Tally(0.0), Busy(), 5.0).passes == 0


def test_figures_of_a_request() -> None:
    """Each as its formula says."""
    figures = stats(tally((1.0, 2.0), (3.0, 4.0)), busy((0.0, 0.5), (1.5, 2.5), (3.0, 3.5), edges=6), 5.0)

    assert (figures.passes, figures.checked_tokens, figures.accepted_tokens) == (2, 6, 2)
    assert figures.tokens_per_second == pytest.approx(4 / 5)
    assert figures.tokens_per_pass == 2.0
    assert figures.target_passes_saved == 2
    assert figures.acceptance_rate == pytest.approx(2 / 6)
    assert figures.time_to_first_token_s == 2.0
    assert figures.verifier_wait_share == pytest.approx(1 / 3)
    assert figures.efficiency == pytest.approx(2 / 3)
    assert figures.overlap == pytest.approx((0.5 + 0.5) / (1.0 + 0.5))
    assert figures.drafted_tokens == 6
    assert figures.draft_step_ms == pytest.approx(750.0)
    assert figures.target_pass_ms == pytest.approx(1000.0)
    assert figures.accepted_by_depth == (2, 0, 0)[: len(figures.accepted_by_depth)]
    assert figures.checked_by_depth == (2, 2, 2)


def test_accepted_and_checked_are_counted_by_depth() -> None:
    """How many passes got that far on the first-choice chain."""
    made = Tally(0.0)
    for tokens, checked in (([1, 2, 3], 4), ([1], 2), ([1, 2], 1)):
        made.add(verdict(tokens, checked=checked), 1.0)

    assert made.accepted_by_depth == [2, 1]
    assert made.checked_by_depth == [3, 2, 1, 1]


def test_hits_are_passes_whose_new_root_was_drafted() -> None:
    """Counted as the verdicts say."""
    made = Tally(0.0)
    for hit in (True, True, False, False):
        made.add(verdict([1], hit=hit), 1.0)

    assert stats(made, Busy(), 2.0).hit_rate == 0.5


def test_edges_count_for_the_window_in_which_they_were_made() -> None:
    """Those of other requests' times are not this one's."""
    made = Busy()
    made.add([(0.0, 1.0)], 5)
    made.add([(2.0, 3.0)], 7)
    made.add([], 3)

    assert made.edges((0.5, 1.5)) == 5
    assert made.edges((2.5, 9.0)) == 10
    assert made.within((1.0, 2.0)) == []


MOMENTS = st.lists(st.floats(0.0, 100.0), max_size=24, unique=True).map(sorted)


def pairs(moments: list[float]) -> list[Interval]:
    """Return intervals that follow one another."""
    return list(zip(moments[::2], moments[1::2], strict=False))


@given(steps=MOMENTS, passes=MOMENTS)
def test_shares_are_shares_and_overlap_is_what_both_did_at_once(steps: list[float], passes: list[float]) -> None:
    """Whenever steps and passes were, in whatever numbers."""
    worked, passed = pairs(steps), pairs(passes)
    figures = stats(tally(*passed), busy(*worked), 200.0)
    window = (passed[0][0], passed[-1][1]) if passed else (0.0, 0.0)
    inside = [step for step in worked if step[1] > window[0] and step[0] < window[1]]
    both = sum(max(0.0, min(a[1], b[1]) - max(a[0], b[0])) for a in inside for b in passed)
    total = sum(ended - began for began, ended in inside)

    assert figures.overlap == pytest.approx(min(both / total, 1.0) if total else 0.0)
    for share in (figures.overlap, figures.verifier_wait_share, figures.efficiency, figures.acceptance_rate):
        assert 0.0 <= share <= 1.0
    assert figures.efficiency + figures.verifier_wait_share == pytest.approx(1.0 if passed else 0.0)
