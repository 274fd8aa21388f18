"""Tensors by name from a folder of safetensors, one file or many."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open

from specpipe.errors import ModelError
from specpipe.models.files import read_json

_SINGLE = "model.safetensors"
_INDEX = "model.safetensors.index.json"


class Checkpoint:
    """The tensors of an open folder; see `open_checkpoint`."""

    def __init__(self, folder: Path, files: dict[str, Any]) -> None:
        self._folder = folder
        self._files = files

    def __contains__(self, name: str) -> bool:
        return name in self._files

    def tensor(self, name: str, *shape: int) -> torch.Tensor:
        """Return a tensor in its stored dtype, on the CPU; raise `ModelError` if it is not there or not of `shape`.

        A size of -1 stands for any.
        """
        file = self._files.get(name)
        if file is None:
            raise ModelError(f"{self._folder} has no tensor {name}; its files are not complete, or of another model")
        stored: torch.Tensor = file.get_tensor(name)
        if not _fits(stored.shape, shape):
            raise ModelError(f"{self._folder}: {name} is {list(stored.shape)} where config.json wants {list(shape)}")
        return stored


def _fits(stored: Sequence[int], wanted: Sequence[int]) -> bool:
    return len(stored) == len(wanted) and all(want in {have, -1} for have, want in zip(stored, wanted, strict=True))


@contextmanager
def open_checkpoint(folder: Path) -> Iterator[Checkpoint]:
    """Open the weights of a model folder; raise `ModelError` that names a missing or damaged file."""
    with ExitStack() as stack:
        files: dict[str, Any] = {}
        for path in _paths(folder):
            file = stack.enter_context(_opened(path))
            files |= dict.fromkeys(file.keys(), file)
        yield Checkpoint(folder, files)


def _opened(path: Path) -> Any:
    try:
        return safe_open(path, "pt")
    except FileNotFoundError as error:
        raise ModelError(f"{path} is missing; the model's files are not complete") from error
    except (OSError, SafetensorError) as error:
        raise ModelError(f"{path} is damaged or cut off ({error}); fetch or write it again") from error


def _paths(folder: Path) -> list[Path]:
    if (folder / _SINGLE).is_file():
        return [folder / _SINGLE]
    if (folder / _INDEX).is_file():
        return [folder / name for name in _shards(folder / _INDEX)]
    if any(folder.glob("*.bin")):
        raise ModelError(f"{folder} has its weights in .bin files only; save the model as safetensors")
    raise ModelError(f"{folder} has no weights: neither {_SINGLE} nor {_INDEX}")


def _shards(index: Path) -> list[str]:
    shards = read_json(index).get("weight_map")
    if not isinstance(shards, dict) or not all(isinstance(name, str) for name in shards.values()):
        raise ModelError(f"{index} has no weight_map from tensors to files")
    names = sorted(set(shards.values()))
    if any(Path(name).name != name for name in names):
        raise ModelError(f"{index} names files outside its folder")
    return names
