"""What the drafter believes of its guesses."""

import random

from hypothesis import given
from hypothesis import strategies as st

from specpipe.minds.calibration import EDGES, PRIOR, Calibration


def test_nothing_seen_leaves_the_prior_and_lower_ranks_are_less_likely() -> None:
    """Before anything was committed the rank alone says how likely a guess is."""
    calibration = Calibration()
    chances = [calibration.kind("model", False, rank, 1.0).chance for rank in range(8)]

    assert chances[: len(PRIOR)] == list(PRIOR)
    assert chances == sorted(chances, reverse=True)


@given(share=st.floats(0.05, 0.95), seed=st.integers(0, 1000))
def test_a_chance_approaches_the_share_of_right_guesses(share: float, seed: int) -> None:
    """After some hundreds of trials the prior hardly matters."""
    rng = random.Random(seed)
    kind = Calibration().kind("model", False, 0, 1.0)
    for _ in range(1000):
        kind.observe(rng.random() < share)

    assert abs(kind.chance - share) < 0.12


def test_margins_are_told_apart_and_unseen_ones_lean_on_their_rank() -> None:
    """A wide margin that was always right says little of a narrow one, but something of one never seen."""
    calibration = Calibration()
    for _ in range(100):
        calibration.kind("model", False, 0, EDGES[-1] + 1).observe(right=True)
        calibration.kind("model", False, 0, EDGES[0] / 2).observe(right=False)
    wide, narrow, unseen = (calibration.kind("model", False, 0, gap).chance for gap in (9.0, 0.1, 1.0))

    assert narrow < 0.1
    assert abs(unseen - 0.5) < 0.1
    assert wide > 0.9


def test_sources_temperatures_and_ranks_do_not_learn_from_one_another() -> None:
    """What n-grams, sampled requests or second choices do says nothing of the others."""
    calibration = Calibration()
    for source, sampled, rank in (("ngram", False, 0), ("model", True, 0), ("model", False, 1)):
        for _ in range(50):
            calibration.kind(source, sampled, rank, 1.0).observe(right=True)

    assert calibration.kind("model", False, 0, 1.0).chance == PRIOR[0]


@given(rights=st.lists(st.booleans(), max_size=200), gap=st.floats(allow_nan=False))
def test_a_chance_is_always_a_chance(rights: list[bool], gap: float) -> None:
    """Whatever was seen, a chance has a logarithm and is at most one; the margin may be infinite."""
    kind = Calibration().kind("model", False, 3, gap)
    for right in rights:
        kind.observe(right)

    assert 0.0 < kind.chance < 1.0


def test_the_older_trials_count_less() -> None:
    """A draft that became bad is believed bad after as many trials as it was good."""
    kind = Calibration().kind("model", False, 0, 1.0)
    for right in [True] * 2000 + [False] * 1000:
        kind.observe(right)

    assert kind.chance < 0.1
