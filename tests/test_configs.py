"""The example configurations are what they say they are."""

import tomllib
from pathlib import Path

import msgspec
import pytest

from specpipe.settings import Settings

CONFIGS = Path(__file__).parents[1] / "configs"


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.toml")), ids=lambda path: path.stem)
def test_every_example_loads(path: Path) -> None:
    """A user who starts from an example starts from one that works."""
    assert isinstance(Settings.load(path), Settings)


def test_the_default_file_names_every_key_with_its_default() -> None:
    """The file is the reference of all settings, so it can neither lag behind nor differ."""
    written = tomllib.loads((CONFIGS / "default.toml").read_text("utf-8"))

    assert written == msgspec.json.decode(msgspec.json.encode(Settings()))
