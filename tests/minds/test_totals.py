"""What an instance has done."""

from specpipe.minds.totals import Totals
from tests.minds.messages import verdict


def test_passes_and_their_rows_are_counted() -> None:
    """Accepted are the tokens but the last, and none where a verdict is only repeated."""
    totals = Totals()
    totals.count(verdict([1, 2, 3], checked=8))
    totals.count(verdict([1], checked=2))
    totals.count(verdict([1, 2, 3], checked=0))

    assert (totals.passes, totals.checked, totals.accepted) == (3, 10, 2)
