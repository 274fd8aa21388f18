"""Tokenizers are compared by what they mean, not by how their files look."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tokenizers import normalizers

from specpipe.errors import ModelError
from specpipe.text.fingerprint import fingerprint, same_tokenizer
from tests.text import kinds

Tree = dict[str, Any]


def reverse_keys(tree: Any) -> Any:
    """Return JSON with the keys of every object in the opposite order."""
    if isinstance(tree, dict):
        return {key: reverse_keys(tree[key]) for key in reversed(tree)}
    return [reverse_keys(item) for item in tree] if isinstance(tree, list) else tree


def changed(folder: Path, change: Callable[[Tree], None], **form: Any) -> Path:
    """Write the tiny tokenizer with its JSON changed and formatted otherwise."""
    path = kinds.tiny(folder) / "tokenizer.json"
    tree = json.loads(path.read_text())
    change(tree)
    path.write_text(json.dumps(reverse_keys(tree), **form))
    return folder


def cosmetic(tree: Tree) -> None:
    """Change what does not matter."""
    tree["truncation"] = {"direction": "Right", "max_length": 5, "strategy": "LongestFirst", "stride": 0}
    tree["added_tokens"].reverse()
    tree["model"]["merges"] = [" ".join(pair) for pair in tree["model"]["merges"]]
    del tree["model"]["dropout"]


def test_form_does_not_matter(tmp_path: Path) -> None:
    """Key order, spacing, truncation, order of added tokens, the spelling of merges: the same tokenizer."""
    plain = kinds.tiny(tmp_path / "plain")
    other = changed(tmp_path / "other", cosmetic, indent=None, ensure_ascii=True)
    (other / "config.json").write_text('{"vocab_size": 512}')

    assert (plain / "tokenizer.json").read_bytes() != (other / "tokenizer.json").read_bytes()
    assert fingerprint(plain) == fingerprint(other)
    same_tokenizer(plain, other)


def swap_tokens(tree: Tree) -> None:
    """Exchange the ids of two tokens."""
    vocabulary = tree["model"]["vocab"]
    vocabulary["A"], vocabulary["B"] = vocabulary["B"], vocabulary["A"]


def swap_merges(tree: Tree) -> None:
    """Exchange the ranks of two merges."""
    merges = tree["model"]["merges"]
    merges[0], merges[1] = merges[1], merges[0]


def drop_token(tree: Tree) -> None:
    """Remove the last token and its merge."""
    last = max(tree["model"]["vocab"].items(), key=lambda item: item[1])[0]
    del tree["model"]["vocab"][last]
    tree["model"]["merges"].pop()


def normalise(tree: Tree) -> None:
    """Lower the case of all text."""
    tree["normalizer"] = json.loads(normalizers.Lowercase().__getstate__())


def split_otherwise(tree: Tree) -> None:
    """Put a space before the first word."""
    tree["pre_tokenizer"]["add_prefix_space"] = True


def strip_added(tree: Tree) -> None:
    """Let a special token swallow the space before it."""
    tree["added_tokens"][1]["lstrip"] = True


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (swap_tokens, "token .* is 'A' in one and 'B' in the other"),
        (swap_merges, "their merges differ"),
        (drop_token, "one has 500 tokens, the other 499"),
    ],
)
def test_contents_matter(tmp_path: Path, change: Callable[[Tree], None], sentence: str) -> None:
    """Other meanings of ids, other merges or sizes: refused with a sentence that says what."""
    plain, other = kinds.tiny(tmp_path / "plain"), changed(tmp_path / "other", change)

    assert fingerprint(plain) != fingerprint(other)
    with pytest.raises(ModelError, match=sentence):
        same_tokenizer(plain, other)


@pytest.mark.parametrize("change", [normalise, split_otherwise, strip_added])
def test_how_text_is_cut_does_not_matter(tmp_path: Path, change: Callable[[Tree], None]) -> None:
    """A draft sees ids only, so what the target's tokenizer does to text before is no concern of the pair."""
    plain, other = kinds.tiny(tmp_path / "plain"), changed(tmp_path / "other", change)

    assert fingerprint(plain) == fingerprint(other)
    same_tokenizer(plain, other)


def test_every_kind_has_a_fingerprint_of_its_own(tmp_path: Path) -> None:
    """The fingerprint is 64 hexadecimal digits and tells vocabularies apart."""
    prints = [fingerprint(kinds.write(build(), tmp_path / name)) for name, build in kinds.KINDS.items()]

    assert all(len(name) == 64 and int(name, 16) >= 0 for name in prints)
    # All but the first are one vocabulary with different decoders, which only concern the target's text.
    assert len(set(prints)) == 2


def test_a_folder_without_a_tokenizer_is_refused(tmp_path: Path) -> None:
    """The sentence names the folder."""
    with pytest.raises(ModelError, match=r"no tokenizer\.json"):
        fingerprint(tmp_path)
