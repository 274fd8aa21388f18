"""What a module declares public is there, once, and in order."""

import ast
import importlib
from pathlib import Path

import pytest

import specpipe

ROOT = Path(__file__).parents[1]


def _declaring() -> list[str]:
    """Name the modules that declare `__all__`, without importing them."""
    files = [path for path in sorted((ROOT / "specpipe").rglob("*.py")) if _declares(path)]
    return [".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in files]


def _declares(path: Path) -> bool:
    targets = [node.targets for node in ast.parse(path.read_text("utf-8")).body if isinstance(node, ast.Assign)]
    return any(isinstance(name, ast.Name) and name.id == "__all__" for names in targets for name in names)


def _rank(name: str) -> tuple[int, str]:
    """Constants come first, then classes, then functions, as the linter sorts them."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)


@pytest.mark.parametrize("name", _declaring())
def test_public_names_exist_and_are_sorted(name: str) -> None:
    """Every declared name can be imported and stands where a reader looks for it."""
    module = importlib.import_module(name)

    assert [public for public in module.__all__ if not hasattr(module, public)] == []
    assert list(module.__all__) == sorted(set(module.__all__), key=_rank)


def test_the_package_promises_its_version_only() -> None:
    """So far the command line is the face of the package; no Python name but the version is promised."""
    assert specpipe.__all__ == ["__version__"]
