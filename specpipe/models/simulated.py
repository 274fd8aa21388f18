"""A stand-in for a model: busy for as long as a forward pass takes, and answers in the planted language.

Everything but the two models is then the real system. Both roles agree without a word between them, since
what follows a prefix is a function of its hash alone (see `words.planted`).
"""

from collections.abc import Sequence
from math import log
from typing import Literal

import numpy as np
import numpy.typing as npt
import torch

from specpipe.clock import now
from specpipe.models.seam import Facts
from specpipe.settings import SimulatedSettings
from specpipe.words import planted
from specpipe.words.batch import Batch

CONTEXT = 8192
_PREFILL_ROWS = 4096
_NEVER = -60.0
_LEAST_CHANCE = 1e-6


class SimulatedExecutor:
    """A drafter or a verifier behind the seam `Executor`, without weights and without a slab."""

    def __init__(
        self, role: Literal["drafter", "verifier"], settings: SimulatedSettings, lanes: int, slots: int, context: int
    ) -> None:
        self.facts = Facts(
            name="simulated",
            vocabulary=planted.VOCABULARY,
            context=context,
            lanes=lanes,
            slots=slots,
            prefill_rows=_PREFILL_ROWS,
            device="cpu",
            dtype="float32",
            threads=1,
            asynchronous=True,
        )
        self.busy_until = 0.0
        self._drafts = role == "drafter"
        self._settings = settings

    def prefill(self, batch: Batch) -> None:
        """Do nothing: what follows a prefix is known from its hash."""

    def decode(self, batch: Batch) -> torch.Tensor:
        """Return the logits of all rows, float32 [rows, 4096]; the device is busy with them for the time they take."""
        self.busy_until = now() + self._seconds(batch)
        return self._draft_logits(batch) if self._drafts else self._target_logits(batch)

    def move(self, lane: int, sources: npt.NDArray[np.int64], targets: npt.NDArray[np.int64]) -> None:
        """Do nothing: there is no slab."""

    def mend(self, lane: int) -> None:
        """Do nothing: there is no slab."""

    def _seconds(self, batch: Batch) -> float:
        """Return the time of a forward pass; of a verifier's, each row beyond one a lane has a price."""
        if self._drafts:
            return self._settings.draft_ms / 1e3
        further = len(batch) - len(np.unique(batch.lanes))
        return (self._settings.target_ms + self._settings.row_ms * further) / 1e3

    def _draft_logits(self, batch: Batch) -> torch.Tensor:
        """Return the logarithms of the planted chances of the choices after each prefix."""
        scores = torch.tensor([log(max(chance, _LEAST_CHANCE)) for chance in self._settings.w])
        tokens = [planted.choices(prefix, len(scores)) for prefix in batch.prefixes.tolist()]
        return _scored(tokens, scores)

    def _target_logits(self, batch: Batch) -> torch.Tensor:
        tokens = [[planted.truth(prefix, self._settings.w)] for prefix in batch.prefixes.tolist()]
        return _scored(tokens, torch.zeros(1))


def _scored(tokens: Sequence[Sequence[int]], scores: torch.Tensor) -> torch.Tensor:
    """Return logits [rows, 4096] that give `scores` to the tokens of each row, and all others no chance."""
    logits = torch.full((len(tokens), planted.VOCABULARY), _NEVER)
    return logits.scatter_(1, torch.tensor(tokens), scores.expand(len(tokens), -1))
