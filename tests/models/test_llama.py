from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from specpipe.models.load import load_executor
from specpipe.models.seam import Executor
from specpipe.settings import EngineSettings, ModelSettings, Settings
from specpipe.words.batch import Batch
from tests.models.walks import chain, joined, prefill
from tests.reference import Reference
from tests.tiny import tiny_llama

_CLOSE = 1e-4
_LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 10000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}
_KINDS: list[dict[str, Any]] = [
    {},
    {"tied": True},
    {"bias": True},
    {"kv_heads": 4},
    {"kv_heads": 1, "layers": 3},
    {"hidden": 96, "heads": 6},
    {"rope": {"rope_type": "linear", "rope_theta": 10000.0, "factor": 4.0}},
    {"rope": _LLAMA3},
]


def _loaded(folder: Path, *, invariant: bool = True, context: int = 512) -> Executor:
    settings = Settings(
        target=ModelSettings(str(folder), device="cpu", dtype="float32", threads=1),
        draft=ModelSettings("none"),
        engine=EngineSettings(batch_invariant=invariant, requests=3, context=context),
    )
    executor = load_executor("verifier", settings)
    assert executor is not None
    return executor


def _text(count: int, seed: int = 0) -> list[int]:
    tokens: list[int] = np.random.default_rng(seed).integers(0, 500, count).tolist()
    return tokens


@pytest.mark.parametrize("invariant", [False, True])
@pytest.mark.parametrize("kind", _KINDS)
def test_logits_equal_those_of_transformers(tmp_path: Path, kind: dict[str, Any], *, invariant: bool) -> None:
    """For every shape of Llama that is served, after a prefill and block by block."""
    folder, text = tiny_llama(tmp_path, 3, **kind), _text(200)
    executor, right = _loaded(folder, invariant=invariant), Reference(folder).logits(text)

    prefill(executor, 1, text[:150])
    after = [executor.decode(chain(1, start, text[start : start + 7])) for start in range(150, 200, 7)]
    blocks = [executor.decode(chain(0, start, text[start : start + 9])) for start in range(0, 200, 9)]

    assert torch.allclose(torch.cat(after), right[150:], atol=_CLOSE)
    assert torch.allclose(torch.cat(blocks), right, atol=_CLOSE)


@pytest.mark.parametrize("invariant", [False, True])
def test_each_branch_of_a_tree_has_the_logits_of_its_own_text(tmp_path: Path, *, invariant: bool) -> None:
    """Branches share their stem, lie in any slots, and do not see one another."""
    folder, stem = tiny_llama(tmp_path, 3), _text(40)
    executor, reference = _loaded(folder, invariant=invariant), Reference(folder)
    prefill(executor, 2, stem)
    # Slots 200, 90, 50, 41: first a and b after the stem, then c after a and d after b.
    tokens, slots, above = [7, 8, 9, 10], [200, 90, 50, 41], [[], [], [200], [90]]
    visible = np.zeros((4, 201), np.bool_)
    visible[:, :40] = True
    for row, (slot, others) in enumerate(zip(slots, above, strict=True)):
        visible[row, [slot, *others]] = True
    batch = Batch(
        np.full(4, 2), np.array(tokens), np.array([40, 40, 41, 41]), np.array(slots), visible, np.zeros(4, np.uint64)
    )

    logits = executor.decode(batch)

    for row, ending in enumerate(([7], [8], [7, 9], [8, 10])):
        assert torch.allclose(logits[row], reference.logits([*stem, *ending])[-1], atol=_CLOSE)


def test_several_requests_share_a_pass(tmp_path: Path) -> None:
    """Each has the logits of its own text, in its own lane."""
    folder = tiny_llama(tmp_path, 3)
    executor, reference = _loaded(folder), Reference(folder)
    texts = [_text(count, count) for count in (130, 5, 60)]
    for lane, text in enumerate(texts):
        prefill(executor, lane, text[:-3])

    logits = executor.decode(joined([chain(lane, len(text) - 3, text[-3:]) for lane, text in enumerate(texts)]))

    right = torch.cat([reference.logits(text)[-3:] for text in texts])
    assert torch.allclose(logits, right, atol=_CLOSE)


def test_moved_keys_serve_at_their_new_slots(tmp_path: Path) -> None:
    """A branch that came true is moved to where a chain expects it."""
    folder, text = tiny_llama(tmp_path, 3), _text(30)
    executor = _loaded(folder)
    prefill(executor, 0, text[:20])
    far = np.arange(100, 110)
    batch = chain(0, 20, text[20:])
    visible = np.zeros((10, 110), np.bool_)
    visible[:, :20] = True
    visible[:, 100:] = batch.visible[:, 20:]
    executor.decode(Batch(batch.lanes, batch.tokens, batch.positions, far, visible, batch.prefixes))

    executor.move(0, far, np.arange(20, 30))

    logits = executor.decode(chain(0, 30, [5]))
    assert torch.allclose(logits[0], Reference(folder).logits([*text, 5])[-1], atol=_CLOSE)


def test_padding_rows_write_nothing(tmp_path: Path) -> None:
    """A pass of three rows changes three slots of one lane, whatever it is padded to."""
    executor = _loaded(tiny_llama(tmp_path, 3))
    for lane in range(3):
        prefill(executor, lane, _text(20))
    before = [(keys.clone(), values.clone()) for keys, values in executor._slab.layers]  # type: ignore[attr-defined]

    executor.decode(chain(1, 20, [3, 4, 5]))

    for (keys, values), (old_keys, old_values) in zip(executor._slab.layers, before, strict=True):  # type: ignore[attr-defined]
        for part, old in ((keys, old_keys), (values, old_values)):
            changed = (part != old).any(-1).any(1).nonzero().tolist()
            assert changed == [[1, 20], [1, 21], [1, 22]]


def test_tokens_and_positions_beyond_the_model_do_no_harm(tmp_path: Path) -> None:
    """A draft may be fed a padded token of a larger target, or look ahead of the context."""
    executor = _loaded(tiny_llama(tmp_path, 3), context=64)
    prefill(executor, 0, _text(63))

    logits = executor.decode(chain(0, 63, [511, 100_000, 5]))

    assert bool(logits.isfinite().all())


def test_bfloat16_follows_float32(tmp_path: Path) -> None:
    """Within what eight bits of mantissa allow."""
    folder, text = tiny_llama(tmp_path, 3), _text(60)
    settings = Settings(
        target=ModelSettings(str(folder), device="cpu", dtype="bfloat16", threads=1), draft=ModelSettings("none")
    )
    executor = load_executor("verifier", settings)
    assert executor is not None

    logits = executor.decode(chain(0, 0, text))

    assert logits.dtype is torch.float32
    right = Reference(folder).logits(text)
    assert float((logits - right).abs().mean()) < 0.05 * float(right.abs().mean())
