import pytest
import torch
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

from specpipe.models.config import Rope
from specpipe.models.rope import tables

_LLAMA3 = {
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}


@pytest.mark.parametrize(
    ("rope", "parameters"),
    [
        (Rope("default", 1e5), {"rope_type": "default", "rope_theta": 1e5}),
        (Rope("linear", 1e4, 4.0), {"rope_type": "linear", "rope_theta": 1e4, "factor": 4.0}),
        (Rope("llama3", 1e4, 8.0, 1.0, 4.0, 64), {"rope_type": "llama3", "rope_theta": 1e4, **_LLAMA3}),
    ],
)
def test_tables_equal_those_of_transformers(rope: Rope, parameters: dict[str, float | str]) -> None:
    """Cosines are equal, and sines carry the sign of the first half."""
    config = LlamaConfig(hidden_size=64, num_attention_heads=2, rope_parameters=parameters, max_position_embeddings=256)
    cos, sin = LlamaRotaryEmbedding(config)(torch.zeros(1), torch.arange(256)[None])

    ours_cos, ours_sin = tables(rope, 32, 256)

    assert torch.allclose(ours_cos, cos[0], atol=1e-6)
    assert torch.allclose(ours_sin, torch.cat((-sin[0, :, :16], sin[0, :, 16:]), 1), atol=1e-6)
