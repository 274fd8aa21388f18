"""The documentation keeps up with the code: links lead somewhere, and the protocol's page names every message."""

import re
from pathlib import Path

import pytest

from specpipe.words import messages

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    path for path in ROOT.rglob("*.md") if not path.is_relative_to(ROOT / ".venv") and ".pytest_cache" not in path.parts
)
_LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")
RECEIVERS = {
    "To the coordinator": messages.TO_COORDINATOR,
    "To the drafter": messages.TO_DRAFTER,
    "To the verifier": messages.TO_VERIFIER,
    "To a client": messages.TO_CLIENT,
}


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_within_the_project_leads_to_a_file(page: Path) -> None:
    """A reader who follows a link finds what it names."""
    links = _LINK.findall(page.read_text("utf-8"))

    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("receiver", RECEIVERS)
def test_the_protocol_page_names_exactly_the_messages_of_each_receiver(receiver: str) -> None:
    """The tables of the page are the tables of the code."""
    page = (ROOT / "docs" / "protocol.md").read_text("utf-8")
    section = page.split(f"### {receiver}\n")[1].split("\n#")[0]
    first_cells = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    named = sorted(name for cell in first_cells for name in re.findall(r"`(\w+)`", cell))

    assert named == sorted(kind.__name__ for kind in RECEIVERS[receiver])


def test_the_protocol_page_states_the_number_of_the_code() -> None:
    """A changed protocol is a changed page."""
    page = (ROOT / "docs" / "protocol.md").read_text("utf-8")

    assert f"Protocol number: **{messages.PROTOCOL}**" in page
