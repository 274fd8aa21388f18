"""The JSON files beside a model's weights, read with errors that name them."""

import json
from pathlib import Path
from typing import Any

from specpipe.errors import ModelError

_WITH_CODE = ("config.json", "tokenizer_config.json", "generation_config.json", "processor_config.json")


def read_json(path: Path) -> dict[str, Any]:
    """Return a JSON object; raise `ModelError` that names the file and what is wrong with it."""
    try:
        tree = json.loads(path.read_text("utf-8"))
    except FileNotFoundError as error:
        raise ModelError(f"{path.parent} has no {path.name}; name the folder of a model") from error
    except (OSError, ValueError) as error:
        raise ModelError(f"cannot read {path}: {error}") from error
    if not isinstance(tree, dict):
        raise ModelError(f"{path} is not a JSON object")
    return tree


def refuse_code(folder: Path) -> None:
    """Raise `ModelError` if a model folder asks for Python code of its own to be run."""
    for name in _WITH_CODE:
        if (folder / name).is_file() and "auto_map" in read_json(folder / name):
            raise ModelError(
                f"{folder / name} asks to run code that comes with the model; "
                "set trust_remote_code for this model if you know it, or choose another"
            )
