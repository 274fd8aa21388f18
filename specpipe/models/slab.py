"""The keys and values of all lanes, allocated once and written in place."""

import numpy as np
import numpy.typing as npt
import torch

from specpipe.models.config import LlamaConfig

BLOCK = 128


class Slab:
    """Keys and values [layer, 2, lane, kv head, slot, dim]; the first of the two are the keys.

    Its memory is zero, and the system gives it out only as slots are first written. The number of slots
    is rounded up to a multiple of `BLOCK`, so that what is shown to attention may be rounded up too.
    """

    def __init__(
        self, config: LlamaConfig, lanes: int, slots: int, dtype: torch.dtype, device: torch.device | str = "cpu"
    ) -> None:
        self.slots = rounded(slots, BLOCK)
        shape = (config.layers, 2, lanes, config.kv_heads, self.slots, config.head_size)
        self._all = torch.zeros(shape, dtype=dtype, device=device)
        self.layers = [(layer[0], layer[1]) for layer in self._all]
        self._flat = [layer.view(-1, config.head_size) for layer in self._all]
        parts = np.arange(2)[:, None] * lanes * config.kv_heads + np.arange(config.kv_heads)
        self._heads = parts.reshape(-1) * self.slots

    def places(self, lanes: npt.NDArray[np.int64], slots: npt.NDArray[np.int64]) -> torch.Tensor:
        """Return where `write` puts rows of these lanes and slots: one index a row, part and head."""
        heads = self._all.shape[3]
        first = lanes * (heads * self.slots) + slots
        return torch.from_numpy((first[:, None] + self._heads[None, :]).reshape(-1)).to(self._all.device)

    def write(self, layer: int, places: torch.Tensor, entries: torch.Tensor) -> None:
        """Write keys and values, [rows * 2 * kv heads, dim] in the order of `places`."""
        self._flat[layer].index_copy_(0, places, entries)

    def move(self, lane: int, sources: npt.NDArray[np.int64], targets: npt.NDArray[np.int64]) -> None:
        """Copy the entries of slots `sources` to `targets` of one lane; all are read before any is written."""
        mine = self._all[:, :, lane]
        taken = mine.index_select(3, torch.from_numpy(sources).to(mine.device))
        mine.index_copy_(3, torch.from_numpy(targets).to(mine.device), taken)

    def mend(self, lane: int) -> None:
        """Zero the entries of one lane that are no numbers, which not even a mask would keep from spreading.

        Slots that were never written stay without memory.
        """
        for layer in self._all:
            mine = layer[:, lane]
            mine[~mine.isfinite().all(-1)] = 0.0


def rounded(count: int, step: int) -> int:
    """Return `count` rounded up to a multiple of `step`."""
    return -(-count // step) * step
