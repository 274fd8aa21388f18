"""Files and functions stay small enough to be held in the head."""

import ast
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "specpipe"
MOST_LINES_OF_A_FILE = 300
MOST_LINES_OF_A_FUNCTION = 50


def _functions(path: Path) -> list[tuple[str, int]]:
    nodes = ast.walk(ast.parse(path.read_text("utf-8")))
    return [
        (f"{path.relative_to(PACKAGE)}:{node.name}", (node.end_lineno or node.lineno) - node.lineno + 1)
        for node in nodes
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def test_no_file_is_too_long() -> None:
    """A file that grows beyond the cap holds more than one noun."""
    lengths = {str(path.relative_to(PACKAGE)): len(path.read_text("utf-8").splitlines()) for path in _files()}

    assert {name: length for name, length in lengths.items() if length > MOST_LINES_OF_A_FILE} == {}


def test_no_function_is_too_long() -> None:
    """A function that grows beyond the cap does more than one thing."""
    lengths = dict(function for path in _files() for function in _functions(path))

    assert {name: length for name, length in lengths.items() if length > MOST_LINES_OF_A_FUNCTION} == {}


def test_the_package_is_found() -> None:
    """The caps are held against the real files."""
    assert PACKAGE / "__init__.py" in _files()


def _files() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))
