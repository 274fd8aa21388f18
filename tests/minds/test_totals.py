"""What an instance has done."""

from specpipe.minds.totals import Totals
from tests.minds.messages import verdict


def test_passes_and_their_rows_are_counted() -> None:
    """Accepted are the tokens but the last, and no more than were on the first-choice chain."""
    totals = Totals()
    totals.count(verdict([1, 2, 3], checked=8))
    totals.count(verdict([1], checked=2))
    totals.count(verdict([1, 2, 3], checked=8, chain=1))

    assert (totals.passes, totals.checked, totals.accepted) == (3, 18, 3)
