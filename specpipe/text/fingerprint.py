"""Whether two models speak the same token ids, by the contents of their tokenizers.

What matters is what a token id means and how text becomes ids: model, normaliser, pre-tokeniser, added
tokens. Formatting, key order, truncation, padding, and the width of embeddings do not.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

from specpipe.errors import ModelError
from specpipe.text.files import stored_tokenizer

_PARTS = ("model", "normalizer", "pre_tokenizer", "added_tokens")


def fingerprint(folder: Path) -> str:
    """Return a hash, 64 hex digits, that is equal for equal tokenizers only; raise `ModelError`."""
    return hashlib.sha256(_canonical(_contents(folder)).encode("ascii")).hexdigest()


def same_tokenizer(a: Path, b: Path) -> None:
    """Raise `ModelError` that says what differs unless both folders have the same tokenizer."""
    difference = _difference(a, b)
    if difference:
        raise ModelError(f"{a} and {b} do not share a tokenizer: {difference}; choose a draft of the same family")


def _contents(folder: Path) -> dict[str, Any]:
    # Written out by the library, so that defaults left out by other versions of it are there.
    tree = json.loads(stored_tokenizer(folder).to_str())
    contents = {part: tree[part] for part in _PARTS}
    contents["added_tokens"] = sorted(contents["added_tokens"], key=lambda token: token["id"])
    return contents


def _canonical(tree: Any) -> str:
    return json.dumps(tree, sort_keys=True, separators=(",", ":"))


def _difference(a: Path, b: Path) -> str | None:
    left, right = _contents(a), _contents(b)
    if left == right:
        return None
    return _token_difference(_tokens(a), _tokens(b)) or _part_difference(left, right)


def _tokens(folder: Path) -> dict[int, str]:
    return {index: token for token, index in stored_tokenizer(folder).get_vocab(with_added_tokens=True).items()}


def _token_difference(left: dict[int, str], right: dict[int, str]) -> str | None:
    if len(left) != len(right):
        return f"one has {len(left)} tokens, the other {len(right)}"
    for index in sorted(left.keys() | right.keys()):
        if left.get(index) != right.get(index):
            return f"token {index} is {left.get(index)!r} in one and {right.get(index)!r} in the other"
    return None


def _part_difference(left: dict[str, Any], right: dict[str, Any]) -> str:
    differing = [part for part in _PARTS if left[part] != right[part]]
    if "model" in differing and left["model"].get("merges") != right["model"].get("merges"):
        return "their merges differ"
    return f"the parts {', '.join(differing)} of their tokenizer.json differ"
