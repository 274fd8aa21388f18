"""Which column of the logits is which token."""

from collections.abc import Iterable

import numpy as np
import torch
from torch import Tensor

from specpipe.words.batch import Ints


class Columns:
    """The tokens of a head, `token_ids` [columns] int64, ascending: all of a vocabulary, or some."""

    def __init__(self, token_ids: Tensor) -> None:
        self._ids = token_ids.cpu().numpy()
        self._whole = bool((self._ids == np.arange(len(self._ids))).all())
        self.device = token_ids.device

    def __len__(self) -> int:
        return len(self._ids)

    def find(self, tokens: Iterable[int]) -> Ints:
        """Return the columns of `tokens`, in their order; tokens without a column are left out."""
        ids = np.fromiter(tokens, np.int64)
        if self._whole:
            return ids[ids < len(self._ids)]
        places = self._ids.searchsorted(ids)
        found = places < len(self._ids)
        found[found] = self._ids[places[found]] == ids[found]
        return places[found]

    def index(self, columns: Ints) -> Tensor:
        """Return columns as an index into a row of logits, on its device."""
        return torch.from_numpy(columns).to(self.device)
