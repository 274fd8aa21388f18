"""Who is started again, how often, and when it is the end."""

import pytest

from specpipe.supervisor.policy import Death, Decision, EndAll, GoOnWithout, Restart, RestartPolicy, Role

WORKERS: tuple[Role, ...] = ("drafter", "verifier")


def died(policy: RestartPolicy, role: Role, *moments: float, status: int = -9, served: bool = True) -> list[Decision]:
    """Return what is decided about deaths at these moments, each of a cause of its own."""
    return [policy.ended(Death(role, status, f"cause {at:g}", at), served=served) for at in moments]


@pytest.mark.parametrize("role", WORKERS)
def test_a_worker_is_restarted_ever_more_slowly_until_its_budget_is_spent(role: Role) -> None:
    """Three deaths in a minute are mended; after the fourth it goes on without a drafter, and not without a verifier.

    Then the first cause is told, and how often it happened (cases D04, D25).
    """
    *mended, last = died(RestartPolicy(budget=3, window_s=60, first_s=0.25), role, 0.0, 1.0, 2.0, 3.0)

    assert mended == [Restart(0.25), Restart(1.0), Restart(4.0)]
    assert last == (GoOnWithout() if role == "drafter" else EndAll(4, "cause 0"))


def test_each_worker_has_a_budget_of_its_own() -> None:
    """A drafter that often dies does not use up the verifier's."""
    policy = RestartPolicy(budget=1)

    assert died(policy, "drafter", 0.0, 1.0)[-1] == GoOnWithout()
    assert died(policy, "verifier", 2.0) == [Restart(0.25)]


@pytest.mark.parametrize("role", WORKERS)
def test_deaths_far_apart_do_not_add_up(role: Role) -> None:
    """The budget counts only what happened within the window."""
    assert died(RestartPolicy(budget=1, window_s=60), role, 0.0, 60.0, 120.0, status=70) == [Restart(0.25)] * 3


def test_no_restart_waits_longer_than_half_a_minute() -> None:
    """However many there may be."""
    decisions = died(RestartPolicy(budget=2000, window_s=1e6), "verifier", *map(float, range(2000)))

    assert decisions[-1] == Restart(30.0)


def test_without_a_budget_nobody_is_started_again() -> None:
    """The first death is the last."""
    assert died(RestartPolicy(budget=0), "verifier", 5.0) == [EndAll(1, "cause 5")]


def test_a_worker_that_can_never_load_is_not_restarted() -> None:
    """Status 64 says that trying again cannot help; its own cause is told."""
    policy = RestartPolicy()

    assert died(policy, "drafter", 0.0, status=64) == [GoOnWithout()]
    assert died(policy, "verifier", 0.0) == [Restart(0.25)]
    assert died(policy, "verifier", 1.0, status=64) == [EndAll(1, "cause 1")]


@pytest.mark.parametrize("role", WORKERS)
def test_before_anything_was_served_giving_up_is_the_end(role: Role) -> None:
    """What was asked for did not come about, so the launch fails instead of going on without a drafter."""
    decisions = died(RestartPolicy(budget=1), role, 0.0, 1.0, served=False)

    assert decisions == [Restart(0.25), EndAll(2, "cause 0")]
    assert died(RestartPolicy(), role, 0.0, status=64, served=False) == [EndAll(1, "cause 0")]


@pytest.mark.parametrize("status", [0, 70, -9])
def test_without_a_coordinator_it_is_the_end(status: int) -> None:
    """What it knew of the open requests dies with it, however it ended."""
    assert died(RestartPolicy(), "coordinator", 0.0, status=status) == [EndAll(1, "cause 0")]
