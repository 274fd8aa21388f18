"""Whole noise vectors by (seed, position), kept because several branches ask for the same ones."""

import torch
from torch import Tensor

from specpipe.sampling.noise import gumbel


class NoiseCache:
    """The coupled noise of a fixed list of token ids; one to a worker.

    `token_ids` [columns] int64 says which token each column of the logits is. At most `capacity` vectors
    of float64 [columns] are held; the one computed first is dropped first.
    """

    def __init__(self, token_ids: Tensor, capacity: int = 64) -> None:
        self._token_ids = token_ids
        self._capacity = capacity
        self._vectors: dict[tuple[int, int], Tensor] = {}

    def __len__(self) -> int:
        return len(self._vectors)

    def vector(self, seed: int, position: int) -> Tensor:
        """Return the noise of all columns, float64 [columns]; not to be written to."""
        self.ahead(seed, position)
        return self._vectors[seed, position]

    def at(self, seed: int, position: int, columns: Tensor | None) -> Tensor:
        """Return the noise of some `columns` (None: all), computing no more than that; same bits as `vector`."""
        if columns is None:
            return self.vector(seed, position)
        held = self._vectors.get((seed, position))
        if held is not None:
            return held[columns]
        return gumbel(seed, position, self._token_ids[columns])

    def ahead(self, seed: int, position: int) -> None:
        """Compute the noise of all columns unless it is held, so that a later ask finds it."""
        if (seed, position) in self._vectors:
            return
        while len(self._vectors) >= self._capacity:
            del self._vectors[next(iter(self._vectors))]
        self._vectors[seed, position] = gumbel(seed, position, self._token_ids)


def all_tokens(vocabulary: int, device: torch.device | str) -> Tensor:
    """Return the token ids of a head that covers the whole vocabulary, int64 [vocabulary]."""
    return torch.arange(vocabulary, device=device)
