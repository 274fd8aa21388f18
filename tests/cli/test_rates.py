"""Rates between two looks at an instance."""

from specpipe.cli.rates import Rates
from tests.supervisor.fakes import status


def test_rates_are_differences_over_time() -> None:
    """What was done before the first look does not count."""
    rates = Rates()
    rates.between(status(committed_tokens=100, passes=50, checked_tokens=80, accepted_tokens=40), 10.0)

    between = rates.between(status(committed_tokens=130, passes=60, checked_tokens=100, accepted_tokens=55), 12.0)

    assert between == {"tokens_per_second": 15.0, "tokens_per_pass": 3.0, "acceptance_rate": 0.75}


def test_an_idle_instance_has_rates_of_zero() -> None:
    """No pass, no check: nothing is divided by zero."""
    rates = Rates()
    rates.between(status(), 1.0)

    assert set(rates.between(status(), 2.0).values()) == {0.0}


def test_the_line_tells_rates_and_totals() -> None:
    """A person reads what goes on and what was done."""
    rates = Rates()
    rates.between(status(), 0.0)

    line = rates.line(status(committed_tokens=20, passes=10, open_requests=2, finished_requests=1), 2.0)

    assert line == "10.0 tokens/s, 2 open, 2.00 tokens/pass, 0% accepted; 1 answers, 20 tokens in all"
