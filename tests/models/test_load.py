import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from specpipe.errors import DeviceError, ModelError
from specpipe.models.load import PREFILL_ROWS, load_executor
from specpipe.models.seam import Executor
from specpipe.models.simulated import SimulatedExecutor
from specpipe.settings import EngineSettings, ModelSettings, Settings
from tests.models.walks import chain
from tests.reference import Reference
from tests.tiny import tiny_llama


@pytest.fixture(autouse=True)
def _same_threads_afterwards() -> Iterator[None]:
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


def _settings(target: Path | str, draft: Path | str = "none", **engine: Any) -> Settings:
    return Settings(
        target=ModelSettings(str(target), device="cpu", dtype="float32", threads=1),
        draft=ModelSettings(str(draft), device="cpu", dtype="float32", threads=1),
        engine=EngineSettings(**engine),
    )


def _loaded(role: str, settings: Settings, **how: int) -> Executor:
    executor = load_executor("drafter" if role == "drafter" else "verifier", settings, **how)
    assert executor is not None
    return executor


def _borrowing(folder: Path, ids: list[int]) -> Path:
    """Make the draft in `folder` borrow its embedding and score only `ids`."""
    tensors = load_file(folder / "model.safetensors")
    head = tensors.pop("lm_head.weight")
    del tensors["model.embed_tokens.weight"]
    chosen = torch.tensor(ids, dtype=torch.int32)
    save_file(tensors | {"lm_head.weight": head[chosen], "vocabulary": chosen}, folder / "model.safetensors")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"embedding_of": "tiny"}))
    return folder


def test_the_facts_are_those_of_model_and_settings(tmp_path: Path) -> None:
    """Room for the requests that may be open, and for branches beyond the context."""
    facts = _loaded("verifier", _settings(tiny_llama(tmp_path, 1, context=300), requests=3), spare_slots=77).facts

    assert (facts.vocabulary, facts.context, facts.lanes, facts.slots) == (512, 300, 3, 377)
    assert (facts.device, facts.dtype, facts.threads, facts.prefill_rows) == ("cpu", "float32", 1, PREFILL_ROWS)
    assert facts.token_ids is None


@pytest.mark.parametrize(
    ("own", "asked", "context"), [(300, 0, 300), (300, 100, 100), (300, 900, 300), (100_000, 0, 8192)]
)
def test_the_context_is_bounded_by_the_model_and_the_settings(
    tmp_path: Path, own: int, asked: int, context: int
) -> None:
    """And by a sane default where neither says less."""
    assert _loaded("verifier", _settings(tiny_llama(tmp_path, 1, context=own), context=asked)).facts.context == context


def test_threads_are_set_for_torch(tmp_path: Path) -> None:
    """As many as the settings say."""
    settings = _settings(tiny_llama(tmp_path, 1)).merged({"target": {"threads": 2}})

    assert _loaded("verifier", settings).facts.threads == torch.get_num_threads() == 2


def test_only_the_verifier_has_fixed_widths(tmp_path: Path) -> None:
    """A drafter is free to be fast."""
    settings = _settings(tiny_llama(tmp_path, 1), tmp_path)

    assert _loaded("verifier", settings).facts.block_rows > 1
    assert _loaded("drafter", settings).facts.block_rows == 1
    assert _loaded("verifier", _settings(tmp_path, batch_invariant=False)).facts.block_rows == 1


@pytest.mark.parametrize("draft", ["none", "ngram", "auto"])
def test_a_draft_without_a_model_loads_nothing(tmp_path: Path, draft: str) -> None:
    """The drafter then has n-grams alone, or does not run."""
    assert load_executor("drafter", _settings(tiny_llama(tmp_path, 1), draft)) is None


def test_a_draft_may_borrow_its_embedding_and_score_few_tokens(tmp_path: Path) -> None:
    """Its logits are those of the whole model at the tokens that it scores."""
    target = tiny_llama(tmp_path / "target", 1)
    whole = tiny_llama(tmp_path / "whole", 2, noise_of=target, scale=0.0)
    right = Reference(whole).logits([5, 6, 7])
    ids = [2, 7, 100, 499]

    drafter = _loaded("drafter", _settings(target, _borrowing(whole, ids)))

    assert drafter.facts.token_ids is not None
    assert drafter.facts.token_ids.tolist() == ids
    assert torch.allclose(drafter.decode(chain(0, 0, [5, 6, 7])), right[:, ids], atol=1e-4)


def test_a_borrowing_draft_is_no_target(tmp_path: Path) -> None:
    """It has no embedding of its own."""
    folder = _borrowing(tiny_llama(tmp_path, 1), [1, 2])

    with pytest.raises(ModelError, match="name another target"):
        load_executor("verifier", _settings(folder))


@pytest.mark.parametrize(("target", "draft", "columns"), [(544, 512, 512), (512, 544, 512)])
def test_padded_vocabularies_of_different_size_go_together(
    tmp_path: Path, target: int, draft: int, columns: int
) -> None:
    """A draft proposes no token that the target does not have, and reads those that it does not have itself."""
    settings = _settings(tiny_llama(tmp_path / "t", 1, vocab=target), tiny_llama(tmp_path / "d", 2, vocab=draft))

    drafter, verifier = _loaded("drafter", settings), _loaded("verifier", settings)

    assert drafter.decode(chain(0, 0, [target - 1])).shape == (1, columns)
    assert verifier.decode(chain(0, 0, [draft - 1])).shape == (1, target)
    assert drafter.facts.vocabulary == columns


def test_a_truncated_draft_is_refused_by_name(tmp_path: Path) -> None:
    """With the file in the sentence."""
    target, draft = tiny_llama(tmp_path / "t", 1), tiny_llama(tmp_path / "d", 2)
    path = draft / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])

    with pytest.raises(ModelError, match=str(path)):
        load_executor("drafter", _settings(target, draft))


def test_a_gpu_that_torch_does_not_have_is_refused(tmp_path: Path) -> None:
    """In one sentence, also on a machine without any."""
    settings = _settings(tiny_llama(tmp_path, 1)).merged({"target": {"device": "cuda:63"}})

    with pytest.raises(DeviceError, match="there is no GPU 63"):
        load_executor("verifier", settings)


def test_the_simulated_pair_has_no_weights() -> None:
    """Both roles, from settings alone."""
    settings = _settings("simulated", "auto", requests=7, context=500)

    for role in ("drafter", "verifier"):
        executor = _loaded(role, settings)
        assert isinstance(executor, SimulatedExecutor)
        assert (executor.facts.lanes, executor.facts.context) == (7, 500)


@pytest.mark.parametrize(("target", "draft"), [("simulated", "tiny"), ("tiny", "simulated")])
def test_the_simulated_device_stands_beside_itself_only(tmp_path: Path, target: str, draft: str) -> None:
    """A real model knows nothing of the planted language."""
    folder = str(tiny_llama(tmp_path, 1))

    with pytest.raises(ModelError, match="simulated"):
        load_executor("drafter", _settings(target.replace("tiny", folder), draft.replace("tiny", folder)))


@pytest.mark.real
def test_the_real_target_in_float32_is_that_of_transformers() -> None:
    """Logits over a prompt and a few tokens."""
    from specpipe.models.catalogue import resolve_target

    folder = resolve_target("smollm2")
    assert folder is not None
    tokens = [1, 4093, 198, 1780, 314, 260, 3575, 282, 4649, 47, 2, 198, 1, 520, 9531, 198, 504]

    logits = _loaded("verifier", _settings("smollm2", context=256)).decode(chain(0, 0, tokens))

    assert torch.allclose(logits, Reference(folder).logits(tokens), atol=1e-3)
