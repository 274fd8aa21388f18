"""What may be used of a machine."""

import os

import pytest

from specpipe.supervisor.machine import quota, survey


@pytest.mark.parametrize(
    ("cpu_max", "cores", "allowed"),
    [
        ("max 100000", 8, 8),
        ("200000 100000", 8, 2),
        ("250000 100000", 8, 2),
        ("50000 100000", 8, 1),
        ("900000 100000", 8, 8),
        ("", 8, 8),
        ("nonsense", 8, 8),
    ],
)
def test_a_container_allows_whole_cores(cpu_max: str, cores: int, allowed: int) -> None:
    """A quota is rounded down, to one core at least; without one all cores may be used."""
    assert quota(cpu_max, cores) == allowed


def test_the_survey_stays_within_the_affinity() -> None:
    """No core is named that this process may not run on."""
    machine = survey(3)

    assert machine.gpus == 3
    assert machine.cores
    assert set(machine.cores) <= os.sched_getaffinity(0)
