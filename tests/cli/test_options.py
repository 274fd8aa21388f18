"""Options are laid over the file, and name what is wrong."""

from pathlib import Path

import click
import pytest

from specpipe.cli.options import refuse_unwritable, settings_of
from specpipe.errors import SettingsError


def test_options_win_over_the_file(tmp_path: Path) -> None:
    """What is not given stays as the file has it."""
    config = tmp_path / "c.toml"
    config.write_text('[target]\nname = "a"\n[draft]\nname = "b"\n[speculation]\nlanes = 3\nnodes = 4\n', "utf-8")

    flags = {"target": "c", "dtype": "float32", "nodes": 7, "acceptance": "rejection", "batch_invariant": False}
    settings = settings_of({"config": config} | flags)

    assert (settings.target.name, settings.draft.name) == ("c", "b")
    assert (settings.target.dtype, settings.draft.dtype) == ("float32", "float32")
    assert (settings.speculation.lanes, settings.speculation.nodes) == (3, 7)
    assert settings.speculation.acceptance == "rejection"
    assert not settings.engine.batch_invariant


def test_a_gpu_is_a_device() -> None:
    """`--target-gpu 1` is `--target-device cuda:1`."""
    settings = settings_of({"target_gpu": 1, "draft_device": "cpu", "draft_threads": 2})

    assert (settings.target.device, settings.draft.device, settings.draft.threads) == ("cuda:1", "cpu", 2)


def test_gpu_and_device_of_one_model_exclude_each_other() -> None:
    """Two options for one thing are refused, not ranked."""
    with pytest.raises(click.UsageError, match="--draft-gpu and --draft-device"):
        settings_of({"draft_gpu": 0, "draft_device": "cpu"})


def test_what_is_out_of_bounds_is_refused() -> None:
    """The bounds of the settings hold for options as well."""
    with pytest.raises(SettingsError, match="lanes"):
        settings_of({"lanes": 0})


def test_a_trace_that_cannot_be_written_is_refused_at_once(tmp_path: Path) -> None:
    """Nobody waits for an answer to learn that its trace is lost."""
    refuse_unwritable(None)
    refuse_unwritable(tmp_path / "trace.json")
    with pytest.raises(click.BadParameter, match="cannot write"):
        refuse_unwritable(tmp_path / "nowhere" / "trace.json")
