"""Whether two models speak the same token ids, by the contents of their tokenizers.

What matters is which token each id is, and from which merges tokens are made. How text is cut before that
is the target's affair alone: a draft sees ids. Formatting, key order and the width of embeddings never matter.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

from specpipe.errors import ModelError
from specpipe.text.files import stored_tokenizer


def fingerprint(folder: Path) -> str:
    """Return a hash, 64 hex digits, that is equal for equal tokenizers only; raise `ModelError`."""
    return hashlib.sha256(_canonical(_contents(folder)).encode("ascii")).hexdigest()


def same_tokenizer(a: Path, b: Path) -> None:
    """Raise `ModelError` that says what differs unless both folders have the same tokenizer."""
    difference = _difference(a, b)
    if difference:
        raise ModelError(f"{a} and {b} do not share a tokenizer: {difference}; choose a draft of the same family")


def _contents(folder: Path) -> dict[str, Any]:
    library = stored_tokenizer(folder)
    tokens = {str(index): token for token, index in library.get_vocab(with_added_tokens=True).items()}
    # Written out by the library, so that the spellings of other versions of it are alike.
    return {"tokens": tokens, "merges": json.loads(library.to_str())["model"].get("merges")}


def _canonical(tree: Any) -> str:
    return json.dumps(tree, sort_keys=True, separators=(",", ":"))


def _difference(a: Path, b: Path) -> str | None:
    left, right = _contents(a), _contents(b)
    if left == right:
        return None
    return _token_difference(left["tokens"], right["tokens"]) or "their merges differ"


def _token_difference(left: dict[str, str], right: dict[str, str]) -> str | None:
    if len(left) != len(right):
        return f"one has {len(left)} tokens, the other {len(right)}"
    for index in sorted(left.keys() | right.keys(), key=int):
        if left.get(index) != right.get(index):
            return f"token {index} is {left.get(index)!r} in one and {right.get(index)!r} in the other"
    return None
