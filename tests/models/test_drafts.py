import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

import specpipe
from specpipe.models.catalogue import resolve_target
from specpipe.models.config import read_config
from specpipe.models.load import load_executor
from specpipe.settings import ModelSettings, Settings
from specpipe.text.fingerprint import fingerprint
from tests.models.walks import chain

FOLDER = Path(specpipe.__file__).parent / "drafts" / "smollm2"
MOST_BYTES = 40_000_000


def test_the_shipped_draft_is_small_and_says_where_it_is_from() -> None:
    """It travels in the wheel, with a licence."""
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < MOST_BYTES
    assert "Apache-2.0" in (FOLDER / "README.md").read_text()


def test_the_shipped_draft_scores_a_part_of_the_vocabulary() -> None:
    """Different tokens, all of them the target's; the end of an answer among them."""
    tensors, config = load_file(FOLDER / "model.safetensors"), read_config(FOLDER)
    ids = tensors["vocabulary"]

    assert config.borrows_embedding
    assert tensors["lm_head.weight"].shape == (len(ids), config.hidden)
    assert len(set(ids.tolist())) == len(ids) == 8192
    assert 0 <= int(ids.min()) < int(ids.max()) < config.vocabulary
    assert 2 in ids


@pytest.mark.real
def test_the_shipped_draft_names_the_tokenizer_of_the_shipped_target() -> None:
    """By the fingerprint of its contents."""
    folder = resolve_target("smollm2")
    assert folder is not None

    assert json.loads((FOLDER / "config.json").read_text())["tokenizer_fingerprint"] == fingerprint(folder)


@pytest.mark.real
def test_the_shipped_draft_often_agrees_with_its_target() -> None:
    """On a text that both know by heart, more often than not."""
    settings = Settings(
        target=ModelSettings("smollm2", device="cpu", threads=1), draft=ModelSettings("auto", device="cpu", threads=1)
    )
    drafter, verifier = load_executor("drafter", settings), load_executor("verifier", settings)
    assert drafter is not None
    assert verifier is not None
    tokens = [1, 4093, 198, 1780, 314, 260, 3575, 282, 4649, 47, 2, 198, 1, 520, 9531, 198]
    for _ in range(24):
        tokens.append(int(verifier.decode(chain(0, 0, tokens))[-1].argmax()))

    columns = drafter.decode(chain(0, 0, tokens))[15:-1].argmax(1)

    assert drafter.facts.token_ids is not None
    agreed = drafter.facts.token_ids[columns] == torch.tensor(tokens[16:])
    assert float(agreed.float().mean()) > 0.4
