"""The small files beside a model's weights, read with errors that name them."""

import json
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from specpipe.errors import ModelError


def stored_tokenizer(folder: Path) -> Tokenizer:
    """Read `tokenizer.json`, without its truncation and padding; raise `ModelError`."""
    path = folder / "tokenizer.json"
    if not path.is_file():
        raise ModelError(f"{folder} has no tokenizer.json; save the model's fast tokenizer there")
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises nothing narrower
        raise ModelError(f"{path} is not a tokenizer: {error}") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def stored_json(path: Path) -> dict[str, Any]:
    """Read a JSON object, empty if there is no such file; raise `ModelError`."""
    try:
        tree = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ModelError(f"cannot read {path}: {error}") from error
    if not isinstance(tree, dict):
        raise ModelError(f"{path} is not a JSON object")
    return tree
