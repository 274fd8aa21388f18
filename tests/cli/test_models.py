"""A pair that cannot be served together is refused before any process is started."""

import json
from pathlib import Path

import pytest
import tokenizers
from tokenizers.models import WordLevel

from specpipe.cli.models import make_ready
from specpipe.errors import ModelError
from specpipe.settings import ModelSettings, Settings, SpeculationSettings
from specpipe.text.fingerprint import fingerprint


def _model(folder: Path, words: list[str] | None, **config: str) -> str:
    """Write a model folder as far as it matters here: its tokenizer, if it has one, and its configuration."""
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"model_type": "llama", **config}), "utf-8")
    if words is not None:
        vocabulary = {word: index for index, word in enumerate(words)}
        tokenizers.Tokenizer(WordLevel(vocabulary, unk_token="a")).save(str(folder / "tokenizer.json"))  # noqa: S106 - a token, no password
    return str(folder)


def _settings(target: str, draft: str, mode: str = "pipelined") -> Settings:
    speculation = SpeculationSettings(mode=mode)  # type: ignore[arg-type]
    return Settings(target=ModelSettings(target), draft=ModelSettings(draft), speculation=speculation)


def test_a_pair_that_shares_a_tokenizer_is_ready(tmp_path: Path) -> None:
    """The same contents in files of different form are the same."""
    target, draft = _model(tmp_path / "t", ["a", "b"]), _model(tmp_path / "d", ["a", "b"])
    make_ready(_settings(target, draft))
    compact = tmp_path / "d" / "tokenizer.json"
    compact.write_text(json.dumps(json.loads(compact.read_text("utf-8"))), "utf-8")

    make_ready(_settings(target, draft))


def test_the_same_size_with_other_contents_is_refused(tmp_path: Path) -> None:
    """The sentence says which token differs."""
    target, draft = _model(tmp_path / "t", ["a", "b"]), _model(tmp_path / "d", ["a", "c"])

    with pytest.raises(ModelError, match="do not share a tokenizer: token 1 is 'b' in one and 'c' in the other"):
        make_ready(_settings(target, draft))


@pytest.mark.parametrize(("mode", "draft_name"), [("target", None), ("pipelined", "none")])
def test_a_draft_that_is_not_used_is_not_looked_at(tmp_path: Path, mode: str, draft_name: str | None) -> None:
    """In target mode even a wrong draft does no harm."""
    target, draft = _model(tmp_path / "t", ["a", "b"]), _model(tmp_path / "d", ["a", "c"])

    make_ready(_settings(target, draft_name or draft, mode))


def test_a_draft_without_a_tokenizer_names_whose_it_speaks(tmp_path: Path) -> None:
    """Its configuration has the fingerprint of the target's tokenizer, and is held to it."""
    target = _model(tmp_path / "t", ["a", "b"])
    fitting = _model(tmp_path / "d", None, tokenizer_fingerprint=fingerprint(Path(target)))
    other = _model(tmp_path / "e", None, tokenizer_fingerprint="0" * 64)
    make_ready(_settings(target, fitting))

    with pytest.raises(ModelError, match="was made for another tokenizer"):
        make_ready(_settings(target, other))


def test_simulated_and_real_models_do_not_mix(tmp_path: Path) -> None:
    """What a simulated model writes means nothing to a real one."""
    real = _model(tmp_path / "t", ["a", "b"])
    make_ready(_settings("simulated", "simulated"))
    make_ready(_settings("simulated", "ngram"))

    for target, draft in ((real, "simulated"), ("simulated", real)):
        with pytest.raises(ModelError, match="simulated"):
            make_ready(_settings(target, draft))


def test_a_model_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    """The name that was given is in it."""
    with pytest.raises(ModelError, match="nowhere"):
        make_ready(_settings(str(tmp_path / "nowhere"), "none"))
