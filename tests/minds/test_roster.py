"""Which workers are there."""

import pytest

from specpipe.minds.roster import ALIVE_S, BURIED_S, Roster
from specpipe.words.messages.fields import Role
from tests.minds.messages import hello, pulse


def test_nobody_is_there_at_first() -> None:
    """Both roles are listed, neither is ready."""
    roster = Roster()

    assert [(status.role, status.ready) for status in roster.statuses()] == [("verifier", False), ("drafter", False)]
    assert roster.get("verifier") is None
    assert roster.all() == []
    assert not roster.is_from("verifier", b"v")


def test_a_new_worker_replaces_the_old_one_of_its_role() -> None:
    """Messages of the old one are no longer its role's."""
    roster = Roster()
    roster.enter(b"old", hello("verifier"), 1.0)
    roster.leave("verifier", 7, 1.05)
    roster.enter(b"new", hello("verifier", pid=8), 1.1)

    assert not roster.is_from("verifier", b"old")
    assert roster.is_from("verifier", b"new")
    assert not roster.is_from("drafter", b"new")


def test_the_drafter_is_told_where_the_verifier_is() -> None:
    """By what the verifier said of itself."""
    roster = Roster()
    roster.enter(b"v", hello("verifier"), 1.0)
    worker = roster.get("verifier")

    assert worker is not None
    met = worker.introduction()
    assert (met.edges, met.verdicts) == ("memory://edges", "memory://verdicts")


@pytest.mark.parametrize(("first", "second", "fits"), [("a", "a", True), ("a", "b", False), ("", "b", True)])
@pytest.mark.parametrize("order", [("drafter", "verifier"), ("verifier", "drafter")])
def test_two_workers_whose_tokenizers_differ_do_not_work_together(
    first: str, second: str, fits: bool, order: tuple[Role, Role]
) -> None:
    """There is a sentence against whoever comes second; one without a tokenizer fits any."""
    roster = Roster()
    roster.enter(b"1", hello(order[0], fingerprint=first), 1.0)
    objection = roster.objection(hello(order[1], fingerprint=second))

    assert (objection is None) == fits
    assert objection is None or "differ" in objection


def test_a_status_has_the_facts_and_the_latest_pulse() -> None:
    """Of the worker that has the role now; others' pulses are ignored."""
    roster = Roster()
    roster.enter(b"v", hello("verifier"), 1.0)
    roster.pulse(b"v", pulse("verifier", counter=5, dropped=6), 1.5)
    others = [roster.pulse(b"old", pulse("verifier", counter=99), 1.6), roster.pulse(b"d", pulse("drafter"), 1.7)]
    status = roster.statuses()[0]
    worker = roster.get("verifier")

    assert others == [None, None]
    assert (status.ready, status.pid, status.model) == (True, 7, "the verifier's model")
    assert (status.counter, status.beats) == (5, 1)
    assert worker is not None
    assert (worker.dropped, worker.heard) == (6, 1.5)


def test_nobody_takes_the_place_of_a_worker_that_gives_signs_of_life() -> None:
    """Until it has been silent for a while, or has left; its own hello again is no intruder's."""
    roster = Roster()
    entered = [roster.enter(b"v", hello("verifier"), 1.0), roster.enter(b"v", hello("verifier"), 1.2)]
    roster.pulse(b"v", pulse("verifier"), 2.0)
    soon = roster.enter(b"w", hello("verifier", pid=8), 2.0 + ALIVE_S - 0.01)
    kept = roster.is_from("verifier", b"v")
    later = roster.enter(b"w", hello("verifier", pid=8), 2.0 + ALIVE_S)

    assert entered == [True, False]
    assert (soon, kept) == (False, True)
    assert later
    assert roster.is_from("verifier", b"w")


def test_who_waits_for_a_place_is_sent_home_once_its_holder_turns_out_to_live() -> None:
    """Last words that were on their way when the holder died are no such sign."""
    roster = Roster()
    roster.enter(b"v", hello("verifier"), 1.0)
    for at in (1.2, 1.6):
        roster.enter(b"w", hello("verifier", pid=8), at)
    roster.pulse(b"v", pulse("verifier"), 1.9)
    early = roster.rejected("verifier")
    roster.pulse(b"v", pulse("verifier"), 1.2 + ALIVE_S)

    assert early == []
    assert [roster.rejected("verifier"), roster.rejected("verifier")] == [[b"w"], []]


def test_an_end_is_that_of_one_process() -> None:
    """A successor keeps its place, and a hello that comes after its end gives nobody one."""
    roster = Roster()
    roster.enter(b"new", hello("verifier", pid=8), 1.0)
    roster.leave("verifier", 7, 1.1)
    kept = roster.is_from("verifier", b"new")
    roster.leave("verifier", 8, 1.2)
    again = [roster.enter(b"new", hello("verifier", pid=8), 1.2 + after) for after in (0.1, BURIED_S)]

    assert kept
    assert again == [False, True]
