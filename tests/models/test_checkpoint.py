import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from specpipe.errors import ModelError
from specpipe.models.checkpoint import open_checkpoint
from tests.tiny import tiny_llama

_NORM = "model.norm.weight"


def _sharded(folder: Path) -> Path:
    tensors = load_file(tiny_llama(folder, 1) / "model.safetensors")
    (folder / "model.safetensors").unlink()
    names = sorted(tensors)
    shards = {"one.safetensors": names[::2], "two.safetensors": names[1::2]}
    for file, part in shards.items():
        save_file({name: tensors[name] for name in part}, folder / file)
    index = {"weight_map": {name: file for file, part in shards.items() for name in part}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    return folder


def test_shards_are_read_as_one(tmp_path: Path) -> None:
    """A model in two files has the tensors of the same model in one."""
    whole = load_file(tiny_llama(tmp_path / "whole", 1) / "model.safetensors")

    with open_checkpoint(_sharded(tmp_path / "shards")) as checkpoint:
        read = {name: checkpoint.tensor(name, *tensor.shape) for name, tensor in whole.items()}

    assert all(torch.equal(read[name], tensor) for name, tensor in whole.items())


def test_a_missing_shard_is_named(tmp_path: Path) -> None:
    """An interrupted download is recognised as one."""
    (_sharded(tmp_path) / "two.safetensors").unlink()

    with pytest.raises(ModelError, match=r"two\.safetensors is missing"), open_checkpoint(tmp_path):
        pass


@pytest.mark.parametrize("file", ["../other.safetensors", "/etc/passwd"])
def test_an_index_may_not_point_outside_its_folder(tmp_path: Path, file: str) -> None:
    """A model folder has no say over other files."""
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {_NORM: file}}))

    with pytest.raises(ModelError, match="outside"), open_checkpoint(tmp_path):
        pass


@pytest.mark.parametrize("index", [{}, {"weight_map": 3}, {"weight_map": {_NORM: 5}}])
def test_an_index_without_a_map_is_refused(tmp_path: Path, index: dict[str, object]) -> None:
    """The index is data from others and is checked."""
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))

    with pytest.raises(ModelError, match="weight_map"), open_checkpoint(tmp_path):
        pass


@pytest.mark.parametrize("kept", [0, 5, 2000])
def test_a_file_that_was_cut_off_is_named(tmp_path: Path, kept: int) -> None:
    """Wherever it ends."""
    path = tiny_llama(tmp_path, 1) / "model.safetensors"
    path.write_bytes(path.read_bytes()[:kept])

    with pytest.raises(ModelError, match="damaged or cut off"), open_checkpoint(tmp_path):
        pass


def test_a_missing_tensor_is_named(tmp_path: Path) -> None:
    """The sentence says which."""
    with open_checkpoint(tiny_llama(tmp_path, 1)) as checkpoint, pytest.raises(ModelError, match="no tensor nowhere"):
        checkpoint.tensor("nowhere", 3)


def test_a_tensor_of_another_shape_is_named(tmp_path: Path) -> None:
    """Both shapes are in the sentence; -1 stands for any size."""
    with open_checkpoint(tiny_llama(tmp_path, 1)) as checkpoint:
        assert len(checkpoint.tensor(_NORM, -1)) == 64
        with pytest.raises(ModelError, match=r"\[64\] where config.json wants \[63\]"):
            checkpoint.tensor(_NORM, 63)


def test_bin_files_alone_are_refused(tmp_path: Path) -> None:
    """They are pickles, and nothing is ever unpickled."""
    (tmp_path / "pytorch_model.bin").write_bytes(b"x")

    with pytest.raises(ModelError, match="safetensors"), open_checkpoint(tmp_path):
        pass


def test_a_folder_without_weights_is_refused(tmp_path: Path) -> None:
    """The sentence says what was looked for."""
    with pytest.raises(ModelError, match="no weights"), open_checkpoint(tmp_path):
        pass
