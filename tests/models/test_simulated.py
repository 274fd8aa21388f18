import subprocess
import sys

import numpy as np
import pytest
import torch

from specpipe.clock import now
from specpipe.models.simulated import SimulatedExecutor
from specpipe.settings import SimulatedSettings
from specpipe.words import planted
from specpipe.words.batch import Batch
from specpipe.words.prefix import child, origin

_W = (0.7, 0.12, 0.05, 0.03)


def _batch(prefixes: list[int], lanes: list[int] | None = None) -> Batch:
    zeros = np.zeros(len(prefixes), np.int64)
    lane = zeros if lanes is None else np.array(lanes, np.int64)
    visible = np.ones((len(prefixes), 1), np.bool_)
    return Batch(lane, zeros, zeros, zeros, visible, np.array(prefixes, np.uint64))


def _pair(**changes: float) -> tuple[SimulatedExecutor, SimulatedExecutor]:
    settings = SimulatedSettings(
        w=_W,
        draft_ms=changes.get("draft_ms", 0.0),
        target_ms=changes.get("target_ms", 0.0),
        row_ms=changes.get("row_ms", 0.0),
    )
    return (
        SimulatedExecutor("drafter", settings, lanes=4, slots=64, context=64),
        SimulatedExecutor("verifier", settings, lanes=4, slots=64, context=64),
    )


def _prefixes(count: int) -> list[int]:
    return [child(origin(1), token) for token in range(count)]


def test_the_true_token_has_the_planted_rank_as_often_as_planted() -> None:
    """Within four standard deviations over two thousand prefixes."""
    drafter, verifier = _pair()
    batch = _batch(_prefixes(2000))

    choices = drafter.decode(batch).topk(len(_W)).indices
    truth = verifier.decode(batch).argmax(1)

    for rank, chance in enumerate(_W):
        hits = int((choices[:, rank] == truth).sum())
        assert abs(hits - 2000 * chance) < 4 * (2000 * chance * (1 - chance)) ** 0.5


def test_the_draft_scores_its_choices_by_their_chances() -> None:
    """The log-probabilities of the choices are the logarithms of w, all others have none to speak of."""
    scores = torch.log_softmax(_pair()[0].decode(_batch(_prefixes(3))), -1).topk(5).values

    right = torch.tensor(_W).log() - np.log(sum(_W))
    assert torch.allclose(scores[:, :4], right.expand(3, -1), atol=1e-5)
    assert float(scores[:, 4].max()) < -50


def test_the_answers_are_those_of_the_planted_language() -> None:
    """Both roles agree with it, and so with one another in any process."""
    drafter, verifier = _pair()
    batch = _batch(_prefixes(50))

    assert drafter.decode(batch).argmax(1).tolist() == [planted.choices(each, 1)[0] for each in _prefixes(50)]
    assert verifier.decode(batch).argmax(1).tolist() == [planted.truth(each, _W) for each in _prefixes(50)]


def test_another_process_gives_the_same_answers() -> None:
    """Nothing depends on hash seeds or on what ran before."""
    code = (
        "from tests.models.test_simulated import _batch, _pair, _prefixes\n"
        "print(_pair()[1].decode(_batch(_prefixes(20))).argmax(1).tolist())"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert said.strip() == str(_pair()[1].decode(_batch(_prefixes(20))).argmax(1).tolist())


@pytest.mark.parametrize(("lanes", "further"), [([0], 0), ([0, 1, 2], 0), ([0, 0, 0, 1, 1], 3)])
def test_a_pass_takes_its_time_and_further_rows_theirs(lanes: list[int], further: int) -> None:
    """One row a lane is in the price of the pass."""
    _, verifier = _pair(target_ms=20.0, row_ms=10.0)

    began = now()
    verifier.decode(_batch(_prefixes(len(lanes)), lanes))

    assert verifier.facts.asynchronous
    assert began + 0.020 + 0.010 * further <= verifier.busy_until <= now() + 0.020 + 0.010 * further


def test_a_step_takes_its_time_however_many_rows() -> None:
    """Drafting is one forward pass of a small model."""
    drafter, _ = _pair(draft_ms=15.0)

    began = now()
    drafter.decode(_batch(_prefixes(8)))

    assert began + 0.015 <= drafter.busy_until <= now() + 0.015


def test_a_prefill_and_a_move_change_nothing() -> None:
    """There is no slab behind them."""
    drafter, verifier = _pair()
    batch = _batch(_prefixes(4))
    before = verifier.decode(batch)

    for executor in (drafter, verifier):
        executor.prefill(batch)
        executor.move(0, np.array([1]), np.array([0]))

    assert torch.equal(verifier.decode(batch), before)
