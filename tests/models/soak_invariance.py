"""The long proof that a row's bits do not depend on its neighbours, for any target: minutes, so outside of the tests.

`python -m tests.models.soak_invariance [TARGET [TOKENS]]` walks four random texts of the target, the longest of
TOKENS tokens, alone on one thread, then together in random blocks on one and two threads, in both dtypes.
"""

import sys

import numpy as np
import torch

from specpipe.models.load import load_executor
from specpipe.models.seam import Executor
from specpipe.settings import Dtype, EngineSettings, ModelSettings, Settings
from tests.models.walks import alone, together

_PROMPTS = (60, 130, 1, 5)
_DTYPES: tuple[Dtype, ...] = ("float32", "bfloat16")


def _loaded(target: str, dtype: Dtype, threads: int) -> Executor:
    model = ModelSettings(target, device="cpu", dtype=dtype, threads=threads)
    executor = load_executor("verifier", Settings(target=model, draft=ModelSettings("none"), engine=EngineSettings()))
    if executor is None:
        raise SystemExit(f"{target} is no model")
    return executor


def _walk(target: str, dtype: Dtype, longest: int) -> int:
    """Write what differs and return how many rows do."""
    executor, differing = _loaded(target, dtype, 1), 0
    draw = np.random.default_rng(5)
    lengths = (longest, 300, 150, 40)
    texts = [draw.integers(0, executor.facts.vocabulary, length).tolist() for length in lengths]
    solo = [
        alone(executor, 3 - lane, text, prompt) for lane, (text, prompt) in enumerate(zip(texts, _PROMPTS, strict=True))
    ]
    for threads in (1, 2):
        executor = _loaded(target, dtype, threads)
        for widest in (8, 16):
            shared = together(executor, texts, _PROMPTS, widest, seed=10 * threads + widest)
            rows = sum(int((a != b).any(1).sum()) for a, b in zip(solo, shared, strict=True))
            total = sum(map(len, solo))
            sys.stdout.write(f"{dtype}, {threads} threads, blocks to {widest}: {rows} of {total} rows differ\n")
            differing += rows
    return differing


def main() -> int:
    """Return 1 if any row differs."""
    torch.manual_seed(0)
    target = sys.argv[1] if len(sys.argv) > 1 else "smollm2"
    longest = int(sys.argv[2]) if len(sys.argv) > 2 else 800
    return int(sum(_walk(target, dtype, longest) for dtype in _DTYPES) > 0)


if __name__ == "__main__":
    raise SystemExit(main())
