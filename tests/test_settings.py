"""Settings come from TOML, are laid over by options, and name what is wrong with them."""

from pathlib import Path
from typing import Any

import pytest

from specpipe.errors import SettingsError
from specpipe.settings import ModelSettings, Settings


def test_a_file_is_read_over_the_defaults(tmp_path: Path) -> None:
    """What it does not name stays as it is."""
    (tmp_path / "s.toml").write_text('[target]\nname = "here"\ncores = [1, 2]\n[engine]\nrequests = 7\n', "utf-8")

    settings = Settings.load(tmp_path / "s.toml")

    assert settings.target == ModelSettings("here", cores=(1, 2))
    assert settings.engine.requests == 7
    assert settings.draft == Settings().draft


def test_changes_of_none_change_nothing() -> None:
    """An option that was not given leaves the setting alone."""
    settings = Settings().merged({"speculation": {"lanes": 3, "nodes": None}, "target": {"threads": None}})

    assert (settings.speculation.lanes, settings.speculation.nodes) == (3, 0)
    assert settings.target == Settings().target


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[speculation]\nlanes = 0\n", "speculation.lanes: expected int >= 1"),
        ("[speculation]\nlanes = nan\n", "speculation.lanes: expected int, got float"),
        ("[simulated]\ndraft_ms = nan\n", "simulated.draft_ms: expected float >= 0.0"),
        ("[engine]\nbatch_invariant = 1\n", "engine.batch_invariant: expected bool, got int"),
        ("transport = 'udp'\n", "transport: invalid enum value 'udp'"),
        ("[trget]\n", "trget: there is no such key"),
    ],
)
def test_what_is_wrong_in_a_file_is_named_with_the_file(text: str, said: str, tmp_path: Path) -> None:
    """The sentence has the file, the key and what was expected there."""
    path = tmp_path / "s.toml"
    path.write_text(text, "utf-8")

    with pytest.raises(SettingsError) as caught:
        Settings.load(path)

    assert str(caught.value) == f"{path}: {said}"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "target.name: expected str of length >= 1"),
        ("x" * 5000, "target.name: expected str of length <= 4096"),
        ("caf\udce9", "target: its name is not valid UTF-8"),
    ],
)
def test_a_name_that_could_not_be_passed_on_is_refused(name: str, said: str) -> None:
    """Every process of the instance has to hear it whole."""
    with pytest.raises(SettingsError) as caught:
        Settings().merged({"target": {"name": name}})

    assert str(caught.value) == said


@pytest.mark.parametrize("changes", [{"lanes": 0}, {"lanes": 2**80}, {"fan": 65}, {"nodes": -1}, {"mode": "fast"}])
def test_the_bounds_hold_for_changes_too(changes: dict[str, Any]) -> None:
    """Options are checked as a file is, and named by part and key."""
    with pytest.raises(SettingsError, match=rf"^speculation\.{next(iter(changes))}: "):
        Settings().merged({"speculation": changes})
