"""A Llama in a GGUF file, written out as a folder of safetensors with its tokenizer.

The tensors are dequantized to the float32 that the file stands for. llama.cpp stores the rows of the query
and key projections with each head's halves interleaved; here they are put back.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors.numpy import save_file

from specpipe.errors import ModelError

_WHOLE = {
    "token_embd.weight": "model.embed_tokens.weight",
    "output_norm.weight": "model.norm.weight",
    "output.weight": "lm_head.weight",
}
_OF_LAYER = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}

Floats = npt.NDArray[np.float32]


def write_model(source: Path, folder: Path) -> None:
    """Write the model of a GGUF file into an empty folder; raise `ModelError`."""
    reader = _reader(source)
    facts = {name: field.contents() for name, field in reader.fields.items() if not name.startswith("tokenizer.ggml.")}
    if facts.get("general.architecture") != "llama":
        raise ModelError(f"{source} holds a {facts.get('general.architecture')} model; only llama is served")
    config = _config(facts, reader)
    save_file(dict(_tensors(reader, config)), folder / "model.safetensors", {"format": "pt"})
    _write_tokenizer(source, folder, config)
    (folder / "config.json").write_text(json.dumps(config, indent=2), "utf-8")


def _reader(source: Path) -> Any:
    try:
        from gguf import GGUFReader  # noqa: PLC0415 - an extra, missed only when a GGUF file is read
    except ImportError as error:
        raise ModelError("reading a GGUF file needs the package gguf: install specpipe-engine[smollm2]") from error
    try:
        return GGUFReader(source)
    except (OSError, ValueError, KeyError) as error:
        raise ModelError(f"{source} is not a GGUF file, or is cut off: {error}") from error


def _config(facts: dict[str, Any], reader: Any) -> dict[str, Any]:
    heads, hidden = facts["llama.attention.head_count"], facts["llama.embedding_length"]
    if "rope_freqs.weight" in _names(reader) or "llama.rope.scaling.type" in facts:
        raise ModelError("this GGUF file scales its rotary positions; use the model's safetensors")
    vocabulary = next(tensor.shape[1] for tensor in reader.tensors if tensor.name == "token_embd.weight")
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": hidden,
        "intermediate_size": facts["llama.feed_forward_length"],
        "num_hidden_layers": facts["llama.block_count"],
        "num_attention_heads": heads,
        "num_key_value_heads": facts.get("llama.attention.head_count_kv", heads),
        "head_dim": facts.get("llama.attention.key_length", hidden // heads),
        "hidden_act": "silu",
        "vocab_size": int(vocabulary),
        "max_position_embeddings": facts["llama.context_length"],
        "rms_norm_eps": facts["llama.attention.layer_norm_rms_epsilon"],
        "rope_parameters": {"rope_type": "default", "rope_theta": facts.get("llama.rope.freq_base", 10000.0)},
        "tie_word_embeddings": "output.weight" not in _names(reader),
        "attention_bias": False,
        "mlp_bias": False,
        "dtype": "float32",
    }


def _names(reader: Any) -> set[str]:
    return {tensor.name for tensor in reader.tensors}


def _tensors(reader: Any, config: dict[str, Any]) -> Iterator[tuple[str, Floats]]:
    from gguf import dequantize  # noqa: PLC0415 - see `_reader`

    for tensor in reader.tensors:
        values: Floats = np.ascontiguousarray(dequantize(tensor.data, tensor.tensor_type), np.float32)
        if ".attn_q." in tensor.name:
            values = _deinterleaved(values, config["num_attention_heads"])
        if ".attn_k." in tensor.name:
            values = _deinterleaved(values, config["num_key_value_heads"])
        yield _name(tensor.name), values


def _name(stored: str) -> str:
    if stored in _WHOLE:
        return _WHOLE[stored]
    parts = stored.split(".")
    if len(parts) != 4 or parts[0] != "blk" or parts[2] not in _OF_LAYER:
        raise ModelError(f"this GGUF file has a tensor {stored}, which no Llama has")
    return f"model.layers.{parts[1]}.{_OF_LAYER[parts[2]]}.{parts[3]}"


def _deinterleaved(values: Floats, heads: int) -> Floats:
    """Return the rows of each head as first halves, then second halves, instead of pair by pair."""
    pairs = values.reshape(heads, -1, 2, *values.shape[1:])
    return np.ascontiguousarray(pairs.swapaxes(1, 2)).reshape(values.shape)


def _write_tokenizer(source: Path, folder: Path, config: dict[str, Any]) -> None:
    """Write the tokenizer as transformers reads it, and set the ids of its special tokens in `config`."""
    from transformers import AutoTokenizer  # noqa: PLC0415 - seconds to import, needed once

    tokenizer = AutoTokenizer.from_pretrained(source.parent, gguf_file=source.name)
    tokenizer.save_pretrained(folder)
    special = {f"{name}_token_id": getattr(tokenizer, f"{name}_token_id") for name in ("bos", "eos", "pad")}
    known = {name: index for name, index in special.items() if index is not None}
    config |= known
    (folder / "generation_config.json").write_text(json.dumps(known, indent=2), "utf-8")
