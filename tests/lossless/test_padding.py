"""Draft and target share a tokenizer, but their embeddings are padded to different sizes (case B01)."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from msgspec.structs import replace as with_parts
from safetensors.torch import load_file, save_file

from specpipe.client.asking import Options
from specpipe.settings import ModelSettings
from specpipe.words.sampling import Mode
from tests.lossless.proof import departures
from tests.process.instances import Running, pair, running
from tests.reference import Reference
from tests.tiny import tiny_llama

PADDED = ("model.embed_tokens.weight", "lm_head.weight")
SIZES = [(544, 512), (512, 544)]
PROMPT = list(range(40, 60))


def resized(folder: Path, of: Path, rows: int) -> Path:
    """Write a noised copy of a model with another number of rows in its embedding and head."""
    tiny_llama(folder, 2, noise_of=of, scale=0.02)
    tensors = load_file(folder / "model.safetensors")
    tensors |= {name: _rows(tensors[name], rows) for name in PADDED}
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    config = json.loads((folder / "config.json").read_text("utf-8"))
    (folder / "config.json").write_text(json.dumps(config | {"vocab_size": rows}), "utf-8")
    return folder


def _rows(tensor: torch.Tensor, rows: int) -> torch.Tensor:
    filled = torch.randn((rows, tensor.shape[1]), generator=torch.Generator().manual_seed(rows)) * tensor.std()
    filled[: min(rows, len(tensor))] = tensor[:rows]
    return filled


@pytest.fixture(scope="module", params=SIZES, ids=lambda sizes: f"{sizes[0]} over {sizes[1]}")
def instance(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A target and a draft of different sizes, the draft in another arithmetic (case B17)."""
    base = tmp_path_factory.mktemp("padded")
    ours, theirs = request.param
    target = tiny_llama(base / "target", 1, vocab=ours)
    settings = pair(target, resized(base / "draft", target, theirs))
    draft = ModelSettings(settings.draft.name, dtype="bfloat16", threads=1)
    with running(with_parts(settings, draft=draft)) as started:
        yield started


@pytest.mark.parametrize("law", [{}, {"temperature": 1.0, "seed": 9}], ids=["greedy", "sampled"])
def test_the_larger_vocabulary_hurts_nobody(instance: Running, law: dict[str, Any]) -> None:
    """The target may write any of its tokens, and the draft is simply never right about those it does not have."""
    reference = Reference(Path(instance.supervisor.settings.target.name))
    modes: tuple[Mode, ...] = ("pipelined", "sequential")
    for mode in modes:
        told = instance.tell(PROMPT, replace(Options(max_tokens=200, ignore_eos=True, mode=mode), **law))

        assert len(told.tokens) == 200
        assert departures(reference, PROMPT, told.tokens, **law) == []
    assert told.stats.accepted_tokens > 20
