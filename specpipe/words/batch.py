"""What a worker hands to its model: the rows of one forward pass, as arrays."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Hashes = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Batch:
    """The rows of one forward pass over any number of requests and branches.

    Every row is one token. Its keys and values are written to `slots[row]` of its lane's part of the
    KV slab before any row attends, so a row may see others of the same batch. `visible[row, slot]` says
    which slots of its own lane it attends to, itself included. Rows of one lane are neighbours.

    Shapes: `lanes`, `tokens`, `positions`, `slots`, `prefixes` [rows]; `visible` [rows, shown], where
    shown is above the highest visible slot. `prefixes` hold the hash of the text up to and including
    the row's token, or 0 where no logits are wanted.
    """

    lanes: Ints
    tokens: Ints
    positions: Ints
    slots: Ints
    visible: Bools
    prefixes: Hashes

    def __len__(self) -> int:
        return len(self.tokens)

    @classmethod
    def chain(cls, lane: int, start: int, tokens: list[int], prefixes: list[int]) -> Self:
        """Return consecutive tokens of one lane, whose slots are their positions, from `start` on."""
        positions = np.arange(start, start + len(tokens), dtype=np.int64)
        shown = np.arange(start + len(tokens), dtype=np.int64)
        return cls(
            lanes=np.full(len(tokens), lane, np.int64),
            tokens=np.array(tokens, np.int64),
            positions=positions,
            slots=positions,
            visible=shown[None, :] <= positions[:, None],
            prefixes=np.array(prefixes, np.uint64),
        )

    @classmethod
    def tree(cls, lane: int, start: int, tokens: list[int], prefixes: list[int], parents: list[int]) -> Self:
        """Return tokens of one lane of which each continues row `parents[row]`, an earlier one; the first has -1.

        The first is the token at position `start`, after `start` others in their slots; the rows' slots follow.
        """
        rows = len(tokens)
        depths, visible = np.zeros(rows, np.int64), np.zeros((rows, start + rows), np.bool_)
        visible[:, :start] = True
        for row, parent in enumerate(parents):
            if parent >= 0:
                depths[row] = depths[parent] + 1
                visible[row] = visible[parent]
            visible[row, start + row] = True
        return cls(
            lanes=np.full(rows, lane, np.int64),
            tokens=np.array(tokens, np.int64),
            positions=start + depths,
            slots=np.arange(start, start + rows, dtype=np.int64),
            visible=visible,
            prefixes=np.array(prefixes, np.uint64),
        )

    def some(self, rows: slice) -> "Batch":
        """Return some neighbouring rows as a batch of their own."""
        return Batch(
            self.lanes[rows],
            self.tokens[rows],
            self.positions[rows],
            self.slots[rows],
            self.visible[rows],
            self.prefixes[rows],
        )

    @classmethod
    def joined(cls, batches: Sequence["Batch"]) -> Self:
        """Return the rows of several batches, one after the other."""
        shown = max(batch.visible.shape[1] for batch in batches)
        return cls(
            lanes=np.concatenate([batch.lanes for batch in batches]),
            tokens=np.concatenate([batch.tokens for batch in batches]),
            positions=np.concatenate([batch.positions for batch in batches]),
            slots=np.concatenate([batch.slots for batch in batches]),
            visible=np.concatenate([_padded(batch.visible, shown) for batch in batches]),
            prefixes=np.concatenate([batch.prefixes for batch in batches]),
        )


def _padded(visible: Bools, shown: int) -> Bools:
    return np.pad(visible, ((0, 0), (0, shown - visible.shape[1])))
