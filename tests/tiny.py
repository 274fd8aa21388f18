"""Tiny random Llama models with a tokenizer that can encode any text, built in a few milliseconds.

The same arguments always build the same bytes, so a process of its own may build the same pair.
"""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

SPECIALS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
EOS = 2
_WORDS = """the of and to in is that it was for on are as with his they at be this have from or one had by word but
not what all were we when your can said there use an each which she do how their if will up other about out many then
them these so some her would make like him into time has look two more write go see number no way could people my than
first water been call who oil its now find long down day did get come made may part over new sound take only little
work know place year live me back give most very after thing our just name good sentence man think say great where
help through much before line right too mean old any same tell boy follow came want show also around form three small"""
_TEMPLATE = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def tiny_llama(
    folder: Path,
    seed: int,
    *,
    layers: int = 2,
    hidden: int = 64,
    heads: int = 4,
    kv_heads: int = 2,
    vocab: int = 512,
    context: int = 2048,
    tied: bool = False,
    bias: bool = False,
    rope: dict[str, Any] | None = None,
    noise_of: Path | None = None,
    scale: float = 0.0,
    spread: float = 0.25,
) -> Path:
    """Write a Llama of random float32 weights with its tokenizer into `folder` and return the folder.

    With `noise_of` the model is that folder's, plus normal noise of `scale` times each tensor's own
    standard deviation: a draft that is right about 0.9 (scale .01), 0.7 (.03) or 0.5 (.06) of the time. `spread` is the
    standard deviation of the weights; a larger one makes the next token surer.
    """
    folder.mkdir(parents=True, exist_ok=True)
    noise = torch.Generator().manual_seed(seed)
    if noise_of is None:
        config = _config(
            layers=layers,
            hidden=hidden,
            heads=heads,
            kv_heads=kv_heads,
            vocab=vocab,
            context=context,
            tied=tied,
            bias=bias,
            rope=rope,
        )
        tensors = _random_tensors(config, spread, noise)
    else:
        config = json.loads((noise_of / "config.json").read_text())
        tensors = {
            name: _noised(tensor, scale, noise) for name, tensor in load_file(noise_of / "model.safetensors").items()
        }
    _write_json(folder / "config.json", config)
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    tiny_tokenizer(folder)
    return folder


def tiny_tokenizer(folder: Path, words: str = _WORDS) -> Path:
    """Write a byte-level BPE tokenizer of 3 special and about 500 tokens, in which any text encodes."""
    vocabulary = {token: index for index, token in enumerate((*SPECIALS, *sorted(pre_tokenizers.ByteLevel.alphabet())))}
    merges: list[tuple[str, str]] = []
    for word in words.split():
        _learn("Ġ" + word, vocabulary, merges)
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(list(SPECIALS))
    tokenizer.save(str(folder / "tokenizer.json"))
    special = {"bos_token": SPECIALS[1], "eos_token": SPECIALS[2], "unk_token": SPECIALS[0], "pad_token": SPECIALS[2]}
    _write_json(folder / "tokenizer_config.json", {"tokenizer_class": "PreTrainedTokenizerFast", **special})
    _write_json(folder / "special_tokens_map.json", special)
    _write_json(folder / "generation_config.json", {"bos_token_id": 1, "eos_token_id": EOS, "pad_token_id": EOS})
    (folder / "chat_template.jinja").write_text(_TEMPLATE)
    return folder


def _learn(word: str, vocabulary: dict[str, int], merges: list[tuple[str, str]]) -> None:
    left = word[0]
    for right in word[1:]:
        if len(vocabulary) >= 500:
            return
        if left + right not in vocabulary:
            merges.append((left, right))
            vocabulary[left + right] = len(vocabulary)
        left += right


def _config(
    *,
    layers: int,
    hidden: int,
    heads: int,
    kv_heads: int,
    vocab: int,
    context: int,
    tied: bool,
    bias: bool,
    rope: dict[str, Any] | None,
) -> dict[str, Any]:
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": hidden,
        "intermediate_size": 2 * hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "head_dim": hidden // heads,
        "hidden_act": "silu",
        "vocab_size": vocab,
        "max_position_embeddings": context,
        "rms_norm_eps": 1e-5,
        "attention_bias": bias,
        "mlp_bias": bias,
        "tie_word_embeddings": tied,
        "rope_parameters": rope or {"rope_type": "default", "rope_theta": 10000.0},
        "bos_token_id": 1,
        "eos_token_id": EOS,
        "dtype": "float32",
    }


def _random_tensors(config: dict[str, Any], spread: float, noise: torch.Generator) -> dict[str, torch.Tensor]:
    return {name: _random(name, shape, spread, noise) for name, shape in _shapes(config).items()}


def _random(name: str, shape: tuple[int, ...], spread: float, noise: torch.Generator) -> torch.Tensor:
    values = torch.randn(shape, generator=noise)
    return 1 + 0.1 * values if name.endswith("norm.weight") else spread * values


def _noised(tensor: torch.Tensor, scale: float, noise: torch.Generator) -> torch.Tensor:
    return tensor + scale * tensor.std() * torch.randn(tensor.shape, generator=noise)


def _shapes(config: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    hidden, vocab = config["hidden_size"], config["vocab_size"]
    shapes: dict[str, tuple[int, ...]] = {"model.embed_tokens.weight": (vocab, hidden), "model.norm.weight": (hidden,)}
    for layer in range(config["num_hidden_layers"]):
        shapes |= {f"model.layers.{layer}.{name}": shape for name, shape in _layer_shapes(config).items()}
    if not config["tie_word_embeddings"]:
        shapes["lm_head.weight"] = (vocab, hidden)
    return shapes


def _layer_shapes(config: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    hidden, inner, size = config["hidden_size"], config["intermediate_size"], config["head_dim"]
    queries, keys = config["num_attention_heads"] * size, config["num_key_value_heads"] * size
    linears = {
        "self_attn.q_proj": (queries, hidden),
        "self_attn.k_proj": (keys, hidden),
        "self_attn.v_proj": (keys, hidden),
        "self_attn.o_proj": (hidden, queries),
        "mlp.gate_proj": (inner, hidden),
        "mlp.up_proj": (inner, hidden),
        "mlp.down_proj": (hidden, inner),
    }
    shapes: dict[str, tuple[int, ...]] = {f"{name}.weight": shape for name, shape in linears.items()}
    shapes |= {f"{name}.bias": shape[:1] for name, shape in linears.items() if config["attention_bias"]}
    return shapes | {"input_layernorm.weight": (hidden,), "post_attention_layernorm.weight": (hidden,)}


def _write_json(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=2))
