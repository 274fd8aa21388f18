"""The seam between a worker and its model; the fast executor and the simulated device stand behind it alike."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch

from specpipe.words.batch import Batch


@dataclass(frozen=True, slots=True)
class Facts:
    """What a loaded model can do.

    `context` is the most positions of a request, `lanes` the requests the slab has room for, `slots` the
    KV entries of each lane (more than `context`, since a draft's branches need slots of their own).
    `prefill_rows` is where prompts are cut. `token_ids` [columns] maps the logits' columns to token ids
    where the head is a subset of the vocabulary, else it is None. `block_rows` is the number of rows that a
    pass is padded to a multiple of. An `asynchronous` device works on after `decode` has returned.
    """

    name: str
    vocabulary: int
    context: int
    lanes: int
    slots: int
    prefill_rows: int
    device: str
    dtype: str
    threads: int
    token_ids: torch.Tensor | None = None
    block_rows: int = 1
    asynchronous: bool = False


class Executor(Protocol):
    """A model with its KV slab. Lanes are numbered from 0; who uses which lane is the worker's business."""

    @property
    def facts(self) -> Facts:
        """The model's facts."""
        ...

    @property
    def busy_until(self) -> float:
        """The moment at which what `decode` returned last counts as done, in seconds of `clock.now`; 0: it is."""
        ...

    def prefill(self, batch: Batch) -> None:
        """Write the keys and values of all rows; logits are not needed.

        Rows of different lanes are computed apart; a prompt's keys and values depend on where it is cut.
        """
        ...

    def decode(self, batch: Batch) -> torch.Tensor:
        """Write the keys and values of all rows and return their logits, float32 [rows, columns].

        With fixed widths a row's logits have the same bits whatever other rows are in the batch, as long
        as its lane's visible slots hold the same tokens in the same order, computed with fixed widths too
        (or by a prefill of the same prompt, cut at the same places). They are an inference tensor: not to
        be changed in place. Tokens and positions beyond the model's own count as its last ones.
        """
        ...

    def move(self, lane: int, sources: npt.NDArray[np.int64], targets: npt.NDArray[np.int64]) -> None:
        """Copy the keys and values of `sources` to the slots `targets` of one lane (all read before written)."""
        ...

    def mend(self, lane: int) -> None:
        """Zero the keys and values of one lane that are no numbers: even unseen ones would harm the next to use it."""
        ...
