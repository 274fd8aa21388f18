"""Launchers and scripts are sound as far as can be told without their platforms."""

import configparser
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted([*(ROOT / "launch").rglob("*.sh"), *(ROOT / "scripts").iterdir(), ROOT / ".ci" / "run"])
SERVICES = sorted((ROOT / "launch").rglob("*.service"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_script_parses_and_may_be_run(script: Path) -> None:
    """Its shell accepts it, and it is executable in a fresh clone."""
    shell = script.read_text("utf-8").splitlines()[0].removeprefix("#!/usr/bin/env ").removeprefix("#!/bin/")
    done = subprocess.run([shell, "-n", str(script)], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")
    assert os.access(script, os.X_OK)


@pytest.mark.parametrize("service", SERVICES, ids=lambda path: path.name)
def test_every_service_starts_a_script_that_exists(service: Path) -> None:
    """The command of the unit lies where the unit says, below the checkout."""
    unit = configparser.ConfigParser(interpolation=None)
    unit.read_string(service.read_text("utf-8"))
    command = unit["Service"]["ExecStart"]

    assert (ROOT / command.removeprefix("/path/to/specpipe/")).is_file()


def test_ci_runs_the_test_command_of_the_readme() -> None:
    """What a stranger is told to type is what every change must pass."""
    command = "./scripts/install && ./scripts/test"

    assert command in (ROOT / "README.md").read_text("utf-8").splitlines()
    assert command in (ROOT / ".ci" / "run").read_text("utf-8").splitlines()
