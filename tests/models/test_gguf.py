import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gguf import GGUFWriter
from safetensors.numpy import load_file
from transformers import AutoTokenizer

from specpipe.errors import ModelError
from specpipe.models.gguf import write_model
from tests.models.tiny_gguf import write_gguf
from tests.tiny import tiny_llama

_TEXTS = (
    "Hello the wörld 😀",
    "<|im_start|>user\nhi<|im_end|>\n",
    "  two  spaces\n\n1. 12345, 1,000\ttab",
    "",
    "日本語 \u00a0 e\u0301",
)


def _written(source: Path, folder: Path) -> Path:
    folder.mkdir()
    write_model(source, folder)
    return folder


def test_a_model_comes_back_from_a_gguf_file(tmp_path: Path) -> None:
    """Tensors bit for bit, halves of heads back in place, tied or not, and the shape."""
    for tied in (False, True):
        original = tiny_llama(tmp_path / f"model{tied}", 1, tied=tied, kv_heads=1)

        folder = _written(write_gguf(original, tmp_path / f"{tied}.gguf"), tmp_path / f"back{tied}")

        before, after = load_file(original / "model.safetensors"), load_file(folder / "model.safetensors")
        assert before.keys() == after.keys()
        assert all(np.array_equal(before[name], after[name]) for name in before)
        config, old = (json.loads((path / "config.json").read_text()) for path in (folder, original))
        assert "quantization_config" not in config
        shape = ("hidden_size", "num_key_value_heads", "head_dim", "vocab_size", "tie_word_embeddings")
        assert {key: config[key] for key in shape} == {key: old[key] for key in shape}


def test_the_tokenizer_is_the_one_that_transformers_reads_from_the_file(tmp_path: Path) -> None:
    """Ids, special tokens, chat template and the token that ends an answer."""
    source = write_gguf(tiny_llama(tmp_path / "model", 1), tmp_path / "tiny.gguf")
    ours: Any = AutoTokenizer.from_pretrained(_written(source, tmp_path / "back"))
    theirs = AutoTokenizer.from_pretrained(source.parent, gguf_file=source.name)

    _assert_equal_tokenizers(ours, theirs)
    assert json.loads((tmp_path / "back" / "generation_config.json").read_text())["eos_token_id"] == 2


@pytest.mark.real
def test_the_real_tokenizer_is_the_one_that_transformers_reads_from_the_file() -> None:
    """For the target that is shipped; an answer ends at <|im_end|>."""
    from specpipe.models.catalogue import _packaged, resolve_target

    folder, source = resolve_target("smollm2"), _packaged()
    assert folder is not None
    assert source is not None
    ours: Any = AutoTokenizer.from_pretrained(folder)

    _assert_equal_tokenizers(ours, AutoTokenizer.from_pretrained(source.parent, gguf_file=source.name))
    assert ours.convert_tokens_to_ids("<|im_end|>") == ours.eos_token_id == 2
    assert json.loads((folder / "generation_config.json").read_text())["eos_token_id"] == 2


def _assert_equal_tokenizers(ours: Any, theirs: Any) -> None:
    chat = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "a"}, {"role": "user", "content": "b"}]
    assert [ours(text).input_ids for text in _TEXTS] == [theirs(text).input_ids for text in _TEXTS]
    assert ours.special_tokens_map == theirs.special_tokens_map
    assert ours.get_vocab() == theirs.get_vocab()
    rendered = [each.apply_chat_template(chat, add_generation_prompt=True, tokenize=False) for each in (ours, theirs)]
    assert rendered[0] == rendered[1]
    assert "assistant" in rendered[0]


def test_another_architecture_is_refused(tmp_path: Path) -> None:
    """The sentence names it."""
    writer = GGUFWriter(tmp_path / "m.gguf", "mamba")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()

    with pytest.raises(ModelError, match="mamba"):
        write_model(tmp_path / "m.gguf", tmp_path)


def test_what_is_no_gguf_file_is_refused(tmp_path: Path) -> None:
    """A wrong name or a failed download."""
    (tmp_path / "x.gguf").write_bytes(b"not a model" * 100)

    with pytest.raises(ModelError, match=r"x\.gguf is not a GGUF file"):
        write_model(tmp_path / "x.gguf", tmp_path)
