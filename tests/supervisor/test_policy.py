"""Who is started again, how often, and when it is the end."""

import pytest

from specpipe.supervisor.policy import EndAll, GoOnWithout, Restart, RestartPolicy, Role


def test_a_drafter_is_restarted_ever_more_slowly_until_its_budget_is_spent() -> None:
    """Three deaths in a minute are mended; after the fourth the service goes on without it."""
    policy = RestartPolicy(budget=3, window_s=60, first_s=0.25)

    decisions = [policy.ended("drafter", -9, at, served=True) for at in (0.0, 1.0, 2.0, 3.0)]

    assert decisions == [Restart(0.25), Restart(1.0), Restart(4.0), GoOnWithout()]


def test_deaths_far_apart_do_not_add_up() -> None:
    """The budget counts only what happened within the window."""
    policy = RestartPolicy(budget=1, window_s=60, first_s=0.25)

    decisions = [policy.ended("drafter", 70, at, served=True) for at in (0.0, 60.0, 120.0)]

    assert decisions == [Restart(0.25)] * 3


def test_a_drafter_that_can_never_load_is_not_restarted() -> None:
    """Status 64 says that trying again cannot help."""
    assert RestartPolicy().ended("drafter", 64, 0.0, served=True) == GoOnWithout()


def test_before_anything_was_served_giving_up_is_the_end() -> None:
    """What was asked for did not come about, so the launch fails instead of going on without a drafter."""
    policy = RestartPolicy(budget=1)

    assert policy.ended("drafter", -9, 0.0, served=False) == Restart(0.25)
    assert policy.ended("drafter", -9, 1.0, served=False) == EndAll()
    assert RestartPolicy().ended("drafter", 64, 0.0, served=False) == EndAll()


@pytest.mark.parametrize("role", ["verifier", "coordinator"])
@pytest.mark.parametrize("status", [0, 70, -9])
def test_without_verifier_or_coordinator_it_is_the_end(role: Role, status: int) -> None:
    """Nothing can be served without them, however they ended."""
    assert RestartPolicy().ended(role, status, 0.0, served=True) == EndAll()
