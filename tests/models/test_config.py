import json
from pathlib import Path
from typing import Any

import pytest

from specpipe.errors import ModelError
from specpipe.models.config import Rope, read_config
from tests.tiny import tiny_llama


def _changed(folder: Path, **changes: Any) -> Path:
    path = tiny_llama(folder, 1) / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    return folder


def test_a_llama_is_read(tmp_path: Path) -> None:
    """All that the executor needs is in the shape."""
    config = read_config(tiny_llama(tmp_path, 1, layers=3, hidden=96, heads=6, kv_heads=2, vocab=520, tied=True))

    assert (config.layers, config.hidden, config.heads, config.kv_heads, config.head_size) == (3, 96, 6, 2, 16)
    assert (config.vocabulary, config.tied, config.context) == (520, True, 2048)


@pytest.mark.parametrize(
    ("changes", "rope"),
    [
        ({"rope_parameters": {"rope_type": "default", "rope_theta": 5e5}}, Rope("default", 5e5)),
        ({"rope_parameters": None, "rope_theta": 7}, Rope("default", 7.0)),
        (
            {"rope_parameters": None, "rope_theta": 100, "rope_scaling": {"type": "linear", "factor": 2.0}},
            Rope("linear", 100.0, 2.0),
        ),
        (
            {
                "rope_parameters": None,
                "rope_scaling": {
                    "rope_type": "llama3",
                    "factor": 8.0,
                    "low_freq_factor": 2.0,
                    "high_freq_factor": 3.0,
                    "original_max_position_embeddings": 64,
                },
            },
            Rope("llama3", 10000.0, 8.0, 2.0, 3.0, 64),
        ),
    ],
)
def test_both_spellings_of_rotary_parameters_are_read(tmp_path: Path, changes: dict[str, Any], rope: Rope) -> None:
    """Old `rope_theta` with `rope_scaling`, and the `rope_parameters` of transformers 5."""
    read = read_config(_changed(tmp_path, **changes)).rope

    assert (read.kind, read.theta, read.factor) == (rope.kind, rope.theta, rope.factor)
    assert rope.kind != "llama3" or read == rope


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"architectures": ["Qwen3ForCausalLM"]}, "architecture"),
        ({"model_type": "mamba"}, "mamba"),
        ({"model_type": "t5", "is_encoder_decoder": True}, "t5"),
        ({"is_encoder_decoder": True}, "encoder"),
        ({"sliding_window": 16}, "sliding window"),
        ({"layer_types": ["sliding_attention", "full_attention"]}, "sliding window"),
        ({"model_type": "mistral", "architectures": ["MistralForCausalLM"]}, "sliding_window"),
        ({"quantization_config": {"quant_method": "fp8"}}, "quantized"),
        ({"hidden_act": "gelu"}, "gelu"),
        ({"rope_parameters": {"rope_type": "yarn", "factor": 2.0}}, "yarn"),
        ({"rope_parameters": {"rope_type": "default", "partial_rotary_factor": 0.5}}, "part of each head"),
        ({"num_key_value_heads": 3}, "multiple"),
        ({"num_hidden_layers": "two"}, "num_hidden_layers"),
        ({"hidden_size": -4}, "hidden_size"),
    ],
)
def test_what_cannot_be_served_exactly_is_refused(tmp_path: Path, changes: dict[str, Any], word: str) -> None:
    """The sentence names what stands in the way."""
    with pytest.raises(ModelError, match=word):
        read_config(_changed(tmp_path, **changes))


def test_a_mistral_without_a_window_is_a_llama(tmp_path: Path) -> None:
    """Its config says that the window is null."""
    folder = _changed(tmp_path, model_type="mistral", architectures=["MistralForCausalLM"], sliding_window=None)

    assert read_config(folder).layers == 2


def test_a_folder_without_a_config_is_named(tmp_path: Path) -> None:
    """The user may have named the wrong folder."""
    with pytest.raises(ModelError, match=r"has no config\.json"):
        read_config(tmp_path)


def test_a_config_that_is_not_json_is_named(tmp_path: Path) -> None:
    """The file is named, not only the position."""
    (tmp_path / "config.json").write_text("{")

    with pytest.raises(ModelError, match=r"config\.json"):
        read_config(tmp_path)
