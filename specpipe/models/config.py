"""What a Llama-style folder says of its model: `config.json`, checked field by field.

Whatever this engine does not compute exactly as transformers does is refused here, with a sentence.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from specpipe.errors import ModelError
from specpipe.models.files import read_json

_ARCHITECTURES = ("LlamaForCausalLM", "MistralForCausalLM")
_KINDS = ("llama", "mistral")

Size = Annotated[int, Meta(ge=1, le=1 << 28)]
Positive = Annotated[float, Meta(gt=0.0)]


@dataclass(frozen=True, slots=True)
class Rope:
    """Rotary positions: base `theta`; `factor` stretches them; the rest belongs to the kind `llama3`."""

    kind: Literal["default", "linear", "llama3"] = "default"
    theta: float = 10000.0
    factor: float = 1.0
    low_factor: float = 1.0
    high_factor: float = 4.0
    original_context: int = 8192


@dataclass(frozen=True, slots=True)
class LlamaConfig:
    """The shape of a model. `borrows_embedding`: its input embedding is the target's, not a tensor of its own."""

    layers: int
    hidden: int
    inner: int
    heads: int
    kv_heads: int
    head_size: int
    vocabulary: int
    context: int
    eps: float
    rope: Rope
    tied: bool
    borrows_embedding: bool = False


class _Raw(Struct):
    """The fields of config.json that matter; others are not looked at."""

    hidden_size: Size
    intermediate_size: Size
    num_hidden_layers: Size
    num_attention_heads: Size
    vocab_size: Size
    num_key_value_heads: Size | None = None
    head_dim: Size | None = None
    max_position_embeddings: Size = 2048
    rms_norm_eps: Positive = 1e-6
    tie_word_embeddings: bool = False
    hidden_act: str = "silu"
    model_type: str = "llama"
    architectures: list[str] | None = None
    is_encoder_decoder: bool = False
    sliding_window: int | None = None
    layer_types: list[str] | None = None
    quantization_config: dict[str, Any] | None = None
    rope_theta: Positive | None = None
    rope_scaling: dict[str, Any] | None = None
    rope_parameters: dict[str, Any] | None = None
    embedding_of: str | None = None


class _RawRope(Struct):
    """Both spellings of rotary parameters, laid over one another."""

    rope_type: str = "default"
    rope_theta: Positive = 10000.0
    factor: Positive = 1.0
    low_freq_factor: Positive = 1.0
    high_freq_factor: Positive = 4.0
    original_max_position_embeddings: Size | None = None
    partial_rotary_factor: float = 1.0


def read_config(folder: Path) -> LlamaConfig:
    """Return the shape of the model in `folder`; raise `ModelError` that says what cannot be served."""
    path = folder / "config.json"
    tree = read_json(path)
    if "model_type" in tree and tree["model_type"] not in _KINDS:
        raise ModelError(f"{folder} holds a {tree['model_type']} model; this engine serves Llama-style models only")
    try:
        raw = msgspec.convert(tree, _Raw)
        rope = msgspec.convert(_rope_tree(raw), _RawRope)
    except msgspec.ValidationError as error:
        raise ModelError(f"{path}: {error}") from error
    if raw.model_type == "mistral" and "sliding_window" not in tree:
        raise ModelError(f"{path} does not say that sliding_window is null, so it attends within a window")
    for objection in _objections(raw, rope):
        raise ModelError(f"{folder} cannot be served: {objection}")
    return _shape(raw, rope)


def _rope_tree(raw: _Raw) -> dict[str, Any]:
    tree: dict[str, Any] = {} if raw.rope_theta is None else {"rope_theta": raw.rope_theta}
    for part in (raw.rope_scaling, raw.rope_parameters):
        tree |= part or {}
    if "type" in tree:
        tree.setdefault("rope_type", tree["type"])
    return {key: value for key, value in tree.items() if value is not None}


def _objections(raw: _Raw, rope: _RawRope) -> Iterator[str]:
    if raw.architectures and raw.architectures[0] not in _ARCHITECTURES:
        yield f"its architecture is {raw.architectures[0]}, and this engine serves {' and '.join(_ARCHITECTURES)}"
    if raw.is_encoder_decoder:
        yield "it is an encoder and a decoder"
    if raw.sliding_window is not None or any(kind != "full_attention" for kind in raw.layer_types or ()):
        yield "it attends within a sliding window"
    if raw.quantization_config:
        yield "its weights are quantized; use the unquantized model"
    if raw.hidden_act not in {"silu", "swish"}:
        yield f"its activation is {raw.hidden_act}, not silu"
    yield from _shape_objections(raw, rope)


def _shape_objections(raw: _Raw, rope: _RawRope) -> Iterator[str]:
    if raw.num_attention_heads % (raw.num_key_value_heads or raw.num_attention_heads):
        yield "its attention heads are no multiple of its key-value heads"
    if raw.head_dim is None and raw.hidden_size % raw.num_attention_heads:
        yield "its hidden size is no multiple of its attention heads"
    if rope.rope_type not in {"default", "linear", "llama3"}:
        yield f"its rotary positions are scaled as {rope.rope_type!r}; default, linear and llama3 are served"
    if rope.partial_rotary_factor != 1.0:
        yield "it rotates only a part of each head"


def _shape(raw: _Raw, rope: _RawRope) -> LlamaConfig:
    return LlamaConfig(
        layers=raw.num_hidden_layers,
        hidden=raw.hidden_size,
        inner=raw.intermediate_size,
        heads=raw.num_attention_heads,
        kv_heads=raw.num_key_value_heads or raw.num_attention_heads,
        head_size=raw.head_dim or raw.hidden_size // raw.num_attention_heads,
        vocabulary=raw.vocab_size,
        context=raw.max_position_embeddings,
        eps=raw.rms_norm_eps,
        rope=Rope(
            "linear" if rope.rope_type == "linear" else "llama3" if rope.rope_type == "llama3" else "default",
            rope.rope_theta,
            rope.factor,
            rope.low_freq_factor,
            rope.high_freq_factor,
            rope.original_max_position_embeddings or raw.max_position_embeddings,
        ),
        tied=raw.tie_word_embeddings,
        borrows_embedding=raw.embedding_of is not None,
    )
