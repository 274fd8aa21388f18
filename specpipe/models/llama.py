"""The fast executor: a Llama over a slab, for any rows of any requests and branches in one forward pass."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional

from specpipe.models.attention import Arrangement, Arranger, stretches
from specpipe.models.config import LlamaConfig
from specpipe.models.linear import Linear
from specpipe.models.rope import tables
from specpipe.models.seam import Facts
from specpipe.models.slab import BLOCK, Slab
from specpipe.models.weights import Layer, Weights
from specpipe.models.widths import Widths
from specpipe.words.batch import Batch

_FREE_STEP = 32


@dataclass(frozen=True, slots=True)
class _Rows:
    """What all layers need to know of a batch. `cos`, `sin` [padded, 1, dim]; `blocks` sum to `padded`."""

    tokens: torch.Tensor
    cos: torch.Tensor
    sin: torch.Tensor
    places: torch.Tensor
    arrangement: Arrangement
    blocks: tuple[int, ...]
    real: int


class LlamaExecutor:
    """A Llama behind the seam `Executor`.

    With `widths` every row of `decode` gets the bits that it would get alone; without, rows are computed at
    whatever width they come.
    """

    def __init__(self, config: LlamaConfig, weights: Weights, facts: Facts, widths: Widths | None = None) -> None:
        self.facts = facts
        self.busy_until = 0.0
        self._config = config
        self._weights = weights
        self._widths = widths
        dtype, device = weights.embedding.dtype, weights.embedding.device
        self._slab = Slab(config, facts.lanes, facts.slots, dtype, device)
        self._cos, self._sin = (
            table.to(device, dtype)[:, None, :] for table in tables(config.rope, config.head_size, self._slab.slots)
        )
        group = config.heads // config.kv_heads
        self._whole = Arranger(group, _FREE_STEP if widths is None else BLOCK, dtype, device)
        self._cut = (
            Arranger(group, BLOCK, dtype, device, widths.blocks, device.type == "cpu") if widths else self._whole
        )

    @torch.inference_mode()
    def prefill(self, batch: Batch) -> None:
        """Write the keys and values of all rows; each lane's rows are computed apart from those of other lanes."""
        for part in _by_lane(batch):
            rows = self._rows(part, (len(part),), self._whole)
            x = functional.embedding(rows.tokens, self._weights.embedding)
            for index, layer in enumerate(self._weights.layers[:-1]):
                x = self._block(index, layer, x, rows)
            self._attention_inputs(len(self._weights.layers) - 1, self._weights.layers[-1], x, rows)

    @torch.inference_mode()
    def decode(self, batch: Batch) -> torch.Tensor:
        """Write the keys and values of all rows and return their logits, float32 [rows, columns]."""
        blocks = self._widths.blocks(len(batch)) if self._widths else (len(batch),)
        rows = self._rows(batch, blocks, self._cut)
        x = functional.embedding(rows.tokens, self._weights.embedding)
        for index, layer in enumerate(self._weights.layers):
            x = self._block(index, layer, x, rows)
        logits = _through(self._weights.head, self._norm(x, self._weights.norm), rows.blocks)
        return logits[: rows.real].float()

    def move(self, lane: int, sources: npt.NDArray[np.int64], targets: npt.NDArray[np.int64]) -> None:
        """Copy the keys and values of `sources` to the slots `targets` of one lane (all read before written)."""
        self._slab.move(lane, sources, targets)

    def mend(self, lane: int) -> None:
        """Zero the keys and values of one lane that are no numbers."""
        self._slab.mend(lane)

    def _rows(self, batch: Batch, blocks: tuple[int, ...], arranger: Arranger) -> _Rows:
        padded, device = sum(blocks), self._cos.device
        source = np.minimum(np.arange(padded), len(batch) - 1)
        tokens = np.minimum(batch.tokens, len(self._weights.embedding) - 1)[source]
        positions = torch.from_numpy(np.minimum(batch.positions, len(self._cos) - 1)[source]).to(device)
        return _Rows(
            torch.from_numpy(tokens).to(device),
            self._cos.index_select(0, positions),
            self._sin.index_select(0, positions),
            self._slab.places(batch.lanes, batch.slots),
            arranger.arrange(batch, padded),
            blocks,
            len(batch),
        )

    def _block(self, index: int, layer: Layer, x: torch.Tensor, rows: _Rows) -> torch.Tensor:
        queries = self._attention_inputs(index, layer, x, rows)
        attended = rows.arrangement.attend(queries, *self._slab.layers[index])
        x = x + _through(layer.out, attended, rows.blocks)
        gate, up = _through(layer.gate_up, self._norm(x, layer.mlp_norm), rows.blocks).chunk(2, -1)
        return x + _through(layer.down, functional.silu(gate).mul_(up), rows.blocks)

    def _attention_inputs(self, index: int, layer: Layer, x: torch.Tensor, rows: _Rows) -> torch.Tensor:
        """Write the keys and values of the rows and return their queries [padded, heads, dim], rotated."""
        config = self._config
        joined = _through(layer.qkv, self._norm(x, layer.attention_norm), rows.blocks)
        heads = joined.view(len(x), -1, config.head_size)
        plain = heads[:, : config.heads + config.kv_heads]
        turned = torch.roll(plain, config.head_size // 2, -1)
        rotated = torch.addcmul(plain * rows.cos, turned, rows.sin)
        entries = torch.cat((rotated[: rows.real, config.heads :], heads[: rows.real, -config.kv_heads :]), 1)
        self._slab.write(index, rows.places, entries.view(-1, config.head_size))
        return rotated[:, : config.heads]

    def _norm(self, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return functional.rms_norm(x, (self._config.hidden,), weight, self._config.eps)


def _through(linear: Linear, x: torch.Tensor, blocks: tuple[int, ...]) -> torch.Tensor:
    """Apply a layer to `blocks` rows at a time."""
    return linear(x) if len(blocks) == 1 else torch.cat([linear(part) for part in torch.split(x, list(blocks))])


def _by_lane(batch: Batch) -> Iterator[Batch]:
    """Yield the rows of each lane as a batch of their own."""
    for _, start, stop in stretches(batch.lanes):
        yield batch.some(slice(start, stop))
