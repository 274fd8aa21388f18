"""When the next edges can be expected, and whether waiting for them is worth it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specpipe.minds.check import Check
from specpipe.minds.choosing import Choice, candidate, choose
from specpipe.minds.patience import Patience
from specpipe.words import prefix as prefixes
from specpipe.words.sampling import Mode
from tests.minds.messages import edges
from tests.minds.requests import opening

STEP = 0.005
PASS = 0.1


def check(tokens: int = 0, *, mode: Mode = "pipelined", nodes: int = 0) -> Check:
    """Return a request whose root was committed at 10 seconds, with a drafted chain."""
    made = Check(opening(mode=mode, nodes=nodes), 0, 10.0)
    prefix = made.root.prefix
    for token in range(tokens):
        made.drafted.add(prefix, token, 0.0, 0.8)
        prefix = prefixes.child(prefix, token)
    return made


def choice(*checks: Check) -> Choice:
    """Return the pass over these requests, at a flat cost."""
    return choose([candidate(each, 1000, "chain") for each in checks], lambda _: PASS, 64)


def waited(patience: Patience, chosen: Choice, wider: float, now: float) -> float | None:
    """Return until when to wait, if a pass with what the next step brings takes `wider` seconds."""
    ahead = patience.foresight.ahead([each for each, _ in chosen.takes])
    return patience.worth_waiting(chosen, choose(ahead, lambda _: wider, 64), now)


def heard(at: float = 10.0, *, chance: float = 0.8, step: float = STEP) -> Patience:
    """Return the patience of one that has long heard edges of this chance."""
    patience = Patience()
    for _ in range(100):
        patience.hear(edges([(1, 1)], chance=chance, step_s=step), at)
    return patience


def test_a_drafter_that_was_never_heard_is_not_waited_for() -> None:
    """The first pass of all starts at once."""
    assert waited(Patience(), choice(check()), PASS, 10.0) is None


def test_after_a_miss_the_first_edges_are_worth_a_step() -> None:
    """They are due one and a half steps after the verdict, and given up one step later."""
    until = waited(heard(), choice(check()), PASS, 10.0)

    assert until == pytest.approx(10.0 + 2.5 * STEP, abs=0.002)


def test_who_has_drafts_is_due_a_step_after_the_last() -> None:
    """Only after a miss must the drafter first learn of it."""
    until = waited(heard(), choice(check(1)), PASS, 10.0)

    assert until == pytest.approx(10.0 + 2 * STEP + 0.001, abs=1e-9)


def test_edges_that_are_worth_less_than_the_time_are_not_waited_for() -> None:
    """A slow drafter, an unlikely guess, or a long chain already there."""
    assert waited(heard(step=0.2), choice(check()), PASS, 10.0) is None
    assert waited(heard(chance=0.01), choice(check()), PASS, 10.0) is None
    assert waited(heard(), choice(check(12)), PASS, 10.0) is None


def test_a_wider_pass_that_costs_more_than_it_brings_is_not_waited_for() -> None:
    """One more row must pay for itself."""
    assert waited(heard(), choice(check()), 3 * PASS, 10.0) is None


def test_who_can_get_no_more_drafts_is_not_waited_for() -> None:
    """Target requests, sequential ones, which wait by their own rule, and full fixed chains."""
    patience = heard()

    assert waited(patience, choice(check(mode="target")), PASS, 10.0) is None
    assert waited(patience, choice(check(mode="sequential", nodes=3)), PASS, 10.0) is None
    assert waited(patience, choice(check(2, nodes=2)), PASS, 10.0) is None


def test_a_moment_that_passes_in_vain_silences_the_drafter_until_it_is_heard() -> None:
    """One that hangs costs one wait, not one for every pass."""
    patience = heard()
    until = waited(patience, choice(check()), PASS, 10.0)
    assert until is not None

    assert waited(patience, choice(check()), PASS, until) is None
    assert patience.quiet
    assert waited(patience, choice(check()), PASS, 10.0) is None
    patience.hear(edges([(1, 1)], chance=0.8, step_s=STEP), 10.0)
    assert not patience.quiet


def test_edges_that_brought_this_pass_nothing_are_not_waited_for_twice() -> None:
    """What comes may belong to other branches; then the pass starts."""
    patience = heard()
    waiting = choice(check())
    until = waited(patience, waiting, PASS, 10.0)
    patience.hear(edges([(1, 1)], chance=0.8, step_s=STEP), 10.009)

    assert until is not None
    assert waited(patience, waiting, PASS, 10.009) is None


@given(
    nows=st.lists(st.floats(0.0, 0.02), min_size=1, max_size=30),
    chance=st.floats(0.01, 1.0),
    step=st.floats(0.0001, 1.0),
    news=st.lists(st.booleans(), min_size=30, max_size=30),
)
def test_no_pass_waits_for_ever(nows: list[float], chance: float, step: float, news: list[bool]) -> None:
    """Whatever comes or does not come, a pass whose drafts do not change starts after a few steps."""
    patience = heard(chance=chance, step=step)
    waiting = choice(check())
    now = 10.0
    for pause, comes in zip(nows, news, strict=False):
        if comes:
            patience.hear(edges([(1, 1)], chance=chance, step_s=step), now)
        until = waited(patience, waiting, PASS, now)
        if until is None:
            return
        assert now < until <= 10.0 + 20 * step + 0.7
        now += pause
    assert now <= 10.0 + 20 * step + 0.7


def test_a_block_is_waited_for_beyond_what_was_last_heard_of_its_own_request() -> None:
    """What is heard of others does not keep a request waiting whose edges were lost."""
    patience, made = heard(), check(mode="sequential", nodes=3)
    before = patience.block_deadline(made)
    patience.hear(edges([(1, 1)], request=2, step_s=STEP), 20.0)
    others = patience.block_deadline(made)
    made.heard_at = 20.0

    assert 10.0 < before == others < 11.0
    assert patience.block_deadline(made) == pytest.approx(before + 10.0)


def test_a_drafter_that_claims_endless_steps_is_not_waited_for_endlessly() -> None:
    """After a pause of an hour the next step seems to take an hour."""
    assert heard(step=3600.0).block_deadline(check(mode="sequential", nodes=3)) <= 20.0
