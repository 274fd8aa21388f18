from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from specpipe.models.load import load_executor
from specpipe.models.seam import Executor
from specpipe.settings import Dtype, EngineSettings, ModelSettings, Settings
from tests.models.walks import alone, together
from tests.tiny import tiny_llama


@pytest.fixture(autouse=True)
def _same_threads_afterwards() -> Iterator[None]:
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


def _loaded(name: str, dtype: Dtype, threads: int) -> Executor:
    settings = Settings(
        target=ModelSettings(name, device="cpu", dtype=dtype, threads=threads),
        draft=ModelSettings("none"),
        engine=EngineSettings(requests=3, context=1024),
    )
    executor = load_executor("verifier", settings)
    assert executor is not None
    return executor


def _same(executor: Executor, other: Executor, lengths: list[int], vocabulary: int, widest: int) -> bool:
    draw = np.random.default_rng(widest)
    texts = [draw.integers(0, vocabulary, length).tolist() for length in lengths]
    prompts = [min(length // 2, 130) for length in lengths]
    solo = [
        alone(executor, 2 - lane, text, prompt) for lane, (text, prompt) in enumerate(zip(texts, prompts, strict=True))
    ]
    shared = together(other, texts, prompts, widest, seed=widest)
    return all(torch.equal(mine, theirs) for mine, theirs in zip(solo, shared, strict=True))


@pytest.mark.parametrize("widest", [8, 16])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("kind", [{}, {"kv_heads": 4, "tied": True}, {"hidden": 96, "heads": 6, "bias": True}])
def test_a_row_has_the_same_bits_whatever_runs_beside_it(
    tmp_path: Path, kind: dict[str, Any], dtype: Dtype, widest: int
) -> None:
    """Alone on one thread, or on two in random blocks beside wrong guesses and other requests in other lanes."""
    name = str(tiny_llama(tmp_path, 3, **kind))

    assert _same(_loaded(name, dtype, 1), _loaded(name, dtype, 2), [140, 40, 10], 500, widest)


@pytest.mark.real
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_the_real_target_has_the_same_bits_as_well(dtype: Dtype) -> None:
    """Over a few dozen tokens here, across the first rounding edge of its keys."""
    executor = _loaded("smollm2", dtype, 1)

    assert _same(executor, executor, [150, 20], 49000, 8)
