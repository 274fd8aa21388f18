import numpy as np
import torch

from specpipe.models.simulated import SimulatedExecutor
from specpipe.models.warm import warm
from specpipe.settings import SimulatedSettings
from specpipe.words.batch import Batch


class _Recorder(SimulatedExecutor):
    """Notes the rows of each pass."""

    def __init__(self) -> None:
        super().__init__("verifier", SimulatedSettings(target_ms=1.0, row_ms=2.0), 2, 256, 256)
        self.seen: list[int] = []

    def decode(self, batch: Batch) -> torch.Tensor:
        """Note, then answer."""
        assert set(batch.lanes.tolist()) == {0}
        assert int(np.max(batch.slots)) < self.facts.slots
        self.seen.append(len(batch))
        return super().decode(batch)


def test_each_width_is_timed_by_itself() -> None:
    """The result is in seconds by rows, and at least what the device takes."""
    executor = _Recorder()

    seconds = warm(executor, (1, 8))

    assert set(executor.seen) == {1, 8}
    assert seconds[1] >= 0.001
    assert seconds[8] >= 0.015
