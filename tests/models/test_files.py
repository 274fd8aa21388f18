import json
from pathlib import Path

import pytest

from specpipe.errors import ModelError
from specpipe.models.files import read_json, refuse_code
from tests.tiny import tiny_llama


@pytest.mark.parametrize("name", ["config.json", "tokenizer_config.json"])
def test_a_folder_that_wants_to_run_code_is_refused(tmp_path: Path, name: str) -> None:
    """Its file is named, and so is the setting that permits it."""
    path = tiny_llama(tmp_path, 1) / name
    path.write_text(json.dumps(json.loads(path.read_text()) | {"auto_map": {"AutoModel": "code.Model"}}))

    with pytest.raises(ModelError, match=rf"{name}.*trust_remote_code"):
        refuse_code(tmp_path)


def test_an_ordinary_folder_is_not_refused(tmp_path: Path) -> None:
    """Most models bring no code."""
    refuse_code(tiny_llama(tmp_path, 1))


@pytest.mark.parametrize("text", ["[]", "{", "\x00", '"x"'])
def test_what_is_no_json_object_is_named(tmp_path: Path, text: str) -> None:
    """The file is in the sentence."""
    (tmp_path / "a.json").write_text(text)

    with pytest.raises(ModelError, match=r"a\.json"):
        read_json(tmp_path / "a.json")
