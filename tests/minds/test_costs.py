"""What a pass of a given width costs."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specpipe.minds.costs import PassCosts

MEASURED = st.dictionaries(st.integers(1, 40), st.floats(0.001, 1.0), min_size=1, max_size=8)
PASSES = st.lists(st.tuples(st.integers(1, 40), st.floats(0.0, 10.0)), max_size=20)


def test_something_must_have_been_measured() -> None:
    """Without a single measurement nothing can be said."""
    with pytest.raises(ValueError, match="at least one width"):
        PassCosts({})


def test_widths_between_are_interpolated_and_those_outside_continued() -> None:
    """Narrower than the narrowest costs as much; beyond the widest the last slope goes on."""
    costs = PassCosts({4: 0.1, 8: 0.2})

    assert [costs.seconds(rows) for rows in (1, 4, 6, 8, 12)] == pytest.approx([0.1, 0.1, 0.15, 0.2, 0.3])
    assert PassCosts({4: 0.1}).seconds(100) == 0.1


def test_passes_are_averaged_and_a_hiccup_counts_as_twice_the_usual() -> None:
    """One pass during which the machine slept does not scare the choice away from its width for long."""
    costs = PassCosts({8: 0.1})
    costs.observe(8, 100.0)
    after = costs.seconds(8)
    for _ in range(30):
        costs.observe(8, 0.1)

    assert after == pytest.approx(0.12)
    assert costs.seconds(8) == pytest.approx(0.1, rel=0.01)


def test_a_new_width_is_taken_as_it_is_unless_it_is_far_slower_than_expected() -> None:
    """The first pass at a width may be a hiccup, too."""
    costs = PassCosts({1: 0.1, 16: 0.1})
    costs.observe(8, 0.09)
    plain = costs.seconds(8)
    costs.observe(12, 5.0)

    assert plain == 0.09
    assert costs.seconds(12) <= 0.1


@given(measured=MEASURED, passes=PASSES)
def test_no_width_is_dearer_than_a_wider_one(measured: dict[int, float], passes: list[tuple[int, float]]) -> None:
    """Whatever was measured: a pass could always be padded to the wider one."""
    costs = PassCosts(measured)
    for rows, seconds in passes:
        costs.observe(rows, seconds)
    curve = [costs.seconds(rows) for rows in range(1, 60)]

    assert all(here <= there + 1e-12 for here, there in pairwise(curve))
    assert min(curve) >= 0.0
