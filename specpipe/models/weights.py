"""The weights of a Llama, fused and packed for the executor."""

from dataclasses import dataclass
from pathlib import Path

import torch

from specpipe.errors import ModelError
from specpipe.models.checkpoint import Checkpoint, open_checkpoint
from specpipe.models.config import LlamaConfig
from specpipe.models.linear import Linear

_EMBEDDING = "model.embed_tokens.weight"
_HEAD = "lm_head.weight"
_VOCABULARY = "vocabulary"


@dataclass(frozen=True, slots=True)
class Layer:
    """One block: `qkv` and `gate_up` are several projections below one another."""

    attention_norm: torch.Tensor
    qkv: Linear
    out: Linear
    mlp_norm: torch.Tensor
    gate_up: Linear
    down: Linear


@dataclass(frozen=True, slots=True)
class Weights:
    """All of a model. `token_ids` [columns]: the token of each row of a head over a part of the vocabulary."""

    embedding: torch.Tensor
    layers: tuple[Layer, ...]
    norm: torch.Tensor
    head: Linear
    token_ids: torch.Tensor | None = None

    def linears(self) -> list[Linear]:
        """Return all linear layers."""
        return [self.head, *(part for at in self.layers for part in (at.qkv, at.out, at.gate_up, at.down))]


def read_weights(
    folder: Path,
    config: LlamaConfig,
    dtype: torch.dtype,
    device: torch.device,
    *,
    embedding_folder: Path | None = None,
    below: int | None = None,
) -> Weights:
    """Read, fuse and pack the weights in `folder`; raise `ModelError`.

    A model that borrows its input embedding gets it from `embedding_folder`. `below` leaves out the rows of
    the head for tokens from that id on.
    """
    with open_checkpoint(folder) as checkpoint:
        reader = _Reader(checkpoint, config, dtype, device)
        embedding = _borrowed(reader, folder, embedding_folder) if config.borrows_embedding else reader.embedding()
        head, token_ids = reader.head(below)
        layers = tuple(reader.layer(f"model.layers.{index}") for index in range(config.layers))
        return Weights(embedding, layers, reader.tensor("model.norm.weight", config.hidden), Linear(head), token_ids)


def _borrowed(reader: "_Reader", folder: Path, lender: Path | None) -> torch.Tensor:
    if lender is None:
        raise ModelError(f"{folder} reads its input embedding from its target; it drafts for that target only")
    with open_checkpoint(lender) as checkpoint:
        return reader.of(checkpoint).embedding()


@dataclass(frozen=True, slots=True)
class _Reader:
    checkpoint: Checkpoint
    config: LlamaConfig
    dtype: torch.dtype
    device: torch.device

    def of(self, checkpoint: Checkpoint) -> "_Reader":
        return _Reader(checkpoint, self.config, self.dtype, self.device)

    def tensor(self, name: str, *shape: int) -> torch.Tensor:
        return self.checkpoint.tensor(name, *shape).to(self.device, self.dtype)

    def embedding(self) -> torch.Tensor:
        return self.tensor(_EMBEDDING, -1, self.config.hidden)

    def head(self, below: int | None) -> tuple[torch.Tensor, torch.Tensor | None]:
        config = self.config
        if _VOCABULARY not in self.checkpoint:
            name = _EMBEDDING if config.tied else _HEAD
            return self.tensor(name, config.vocabulary, config.hidden)[:below], None
        ids = self.checkpoint.tensor(_VOCABULARY, -1).long()
        kept = ids < (config.vocabulary if below is None else below)
        weight = self.checkpoint.tensor(_HEAD, len(ids), config.hidden)[kept]
        return weight.to(self.device, self.dtype), ids[kept].to(self.device)

    def layer(self, name: str) -> Layer:
        config = self.config
        queries, keys = config.heads * config.head_size, config.kv_heads * config.head_size
        attention, mlp = f"{name}.self_attn", f"{name}.mlp"
        return Layer(
            self.tensor(f"{name}.input_layernorm.weight", config.hidden),
            self._fused(
                config.hidden,
                {f"{attention}.{part}_proj": rows for part, rows in zip("qkv", (queries, keys, keys), strict=True)},
            ),
            self._fused(queries, {f"{attention}.o_proj": config.hidden}),
            self.tensor(f"{name}.post_attention_layernorm.weight", config.hidden),
            self._fused(config.hidden, {f"{mlp}.gate_proj": config.inner, f"{mlp}.up_proj": config.inner}),
            self._fused(config.inner, {f"{mlp}.down_proj": config.hidden}),
        )

    def _fused(self, columns: int, parts: dict[str, int]) -> Linear:
        weight = torch.cat([self.tensor(f"{name}.weight", rows, columns) for name, rows in parts.items()])
        biases = [f"{name}.bias" for name in parts]
        if not any(name in self.checkpoint for name in biases):
            return Linear(weight)
        return Linear(
            weight, torch.cat([self.tensor(name, rows) for name, rows in zip(biases, parts.values(), strict=True)])
        )
