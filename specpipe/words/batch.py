"""What a worker hands to its model: the rows of one forward pass, as arrays."""

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
    the row's token.
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
