"""A tiny Llama as a GGUF file, written as llama.cpp would write it."""

import json
from pathlib import Path

import numpy as np
import numpy.typing as npt
from gguf import GGUFWriter, TokenType
from safetensors.numpy import load_file

_NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def write_gguf(folder: Path, path: Path) -> Path:
    """Write the model in `folder`, made by `tests.tiny`, to a GGUF file and return its path."""
    config = json.loads((folder / "config.json").read_text())
    writer = GGUFWriter(path, "llama")
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_rope_freq_base(config["rope_parameters"]["rope_theta"])
    _add_tokenizer(writer, folder, config["vocab_size"])
    heads = {"self_attn.q_proj": config["num_attention_heads"], "self_attn.k_proj": config["num_key_value_heads"]}
    for name, values in load_file(folder / "model.safetensors").items():
        _add(writer, name.removesuffix(".weight"), values, heads)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _add(writer: GGUFWriter, name: str, values: npt.NDArray[np.float32], heads: dict[str, int]) -> None:
    if not name.startswith("model.layers."):
        writer.add_tensor(f"{_NAMES[name]}.weight", values)
        return
    layer, part = name.removeprefix("model.layers.").split(".", 1)
    if part in heads:
        halves = values.reshape(heads[part], 2, -1, values.shape[1])
        values = np.ascontiguousarray(halves.swapaxes(1, 2)).reshape(values.shape)
    writer.add_tensor(f"blk.{layer}.{_NAMES[part]}.weight", values)


def _add_tokenizer(writer: GGUFWriter, folder: Path, vocabulary: int) -> None:
    tree = json.loads((folder / "tokenizer.json").read_text())
    tokens = sorted(tree["model"]["vocab"], key=tree["model"]["vocab"].get)
    padding = [f"[PAD{index}]" for index in range(len(tokens), vocabulary)]
    special = len(tree["added_tokens"])
    kinds = [TokenType.CONTROL] * special + [TokenType.NORMAL] * (len(tokens) - special)
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(tokens + padding)
    writer.add_token_types(kinds + [TokenType.UNUSED] * len(padding))
    writer.add_token_merges([" ".join(pair) for pair in tree["model"]["merges"]])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_pad_token_id(2)
    writer.add_chat_template((folder / "chat_template.jinja").read_text())
