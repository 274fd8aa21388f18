"""Which workers are there."""

import pytest

from specpipe.minds.roster import ALIVE_S, Roster
from specpipe.words.messages import Pulse
from specpipe.words.messages.fields import Role
from tests.minds.messages import hello


def pulse(role: Role, counter: int) -> Pulse:
    """Return a sign of life."""
    return Pulse(role=role, counter=counter, dropped=counter + 1, at=1.0)


def test_nobody_is_there_at_first() -> None:
    """Both roles are listed, neither is ready."""
    roster = Roster()

    assert [(status.role, status.ready) for status in roster.statuses()] == [("verifier", False), ("drafter", False)]
    assert roster.get("verifier") is None
    assert roster.introduction() is None
    assert not roster.is_from("verifier", b"v")


def test_a_new_worker_replaces_the_old_one_of_its_role() -> None:
    """Messages of the old one are no longer its role's."""
    roster = Roster()
    roster.enter(b"old", hello("verifier"), 1.0)
    roster.leave("verifier")
    roster.enter(b"new", hello("verifier"), 1.1)

    assert not roster.is_from("verifier", b"old")
    assert roster.is_from("verifier", b"new")
    assert not roster.is_from("drafter", b"new")


def test_the_drafter_is_told_where_the_verifier_is() -> None:
    """As soon as there is one, and not when it has left."""
    roster = Roster()
    roster.enter(b"d", hello("drafter"), 1.0)
    before = roster.introduction()
    roster.enter(b"v", hello("verifier"), 1.0)
    met = roster.introduction()
    roster.leave("verifier")

    assert before is None
    assert met is not None
    assert (met.edges, met.verdicts) == ("memory://edges", "memory://verdicts")
    assert roster.introduction() is None


@pytest.mark.parametrize(("first", "second", "fits"), [("a", "a", True), ("a", "b", False), ("", "b", True)])
@pytest.mark.parametrize("order", [("drafter", "verifier"), ("verifier", "drafter")])
def test_two_workers_whose_tokenizers_differ_do_not_work_together(
    first: str, second: str, fits: bool, order: tuple[Role, Role]
) -> None:
    """Whoever comes second is turned away with a sentence; one without a tokenizer fits any."""
    roster = Roster()
    roster.enter(b"1", hello(order[0], fingerprint=first), 1.0)
    refusal = roster.enter(b"2", hello(order[1], fingerprint=second), 1.0)

    assert (refusal is None) == fits
    assert roster.is_from(order[1], b"2") == fits
    assert refusal is None or "differ" in refusal


def test_a_status_has_the_facts_and_the_latest_pulse() -> None:
    """Of the worker that has the role now; others' pulses are ignored."""
    roster = Roster()
    roster.enter(b"v", hello("verifier"), 1.0)
    roster.pulse(b"v", pulse("verifier", 5), 1.5)
    roster.pulse(b"old", pulse("verifier", 99), 1.6)
    roster.pulse(b"d", pulse("drafter", 7), 1.7)
    status = roster.statuses()[0]
    worker = roster.get("verifier")

    assert (status.ready, status.pid, status.counter, status.model) == (True, 7, 5, "the verifier's model")
    assert worker is not None
    assert (worker.dropped, worker.heard) == (6, 1.5)


def test_nobody_takes_the_place_of_a_worker_that_gives_signs_of_life() -> None:
    """Until it has been silent for a while, or has left; its own hello again is no intruder's."""
    roster = Roster()
    roster.enter(b"v", hello("verifier"), 1.0)
    again = roster.enter(b"v", hello("verifier"), 1.2)
    roster.pulse(b"v", pulse("verifier", 1), 2.0)
    soon = roster.enter(b"w", hello("verifier"), 2.0 + ALIVE_S - 0.01)
    kept = roster.is_from("verifier", b"v")
    later = roster.enter(b"w", hello("verifier"), 2.0 + ALIVE_S)

    assert again is None
    assert soon is not None
    assert "verifier already" in soon
    assert kept
    assert later is None
    assert roster.is_from("verifier", b"w")
