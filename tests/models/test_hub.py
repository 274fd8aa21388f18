from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import huggingface_hub
import pytest
from huggingface_hub.errors import LocalEntryNotFoundError, RepositoryNotFoundError

from specpipe.errors import ModelError
from specpipe.models.hub import fetched


def _hub(monkeypatch: pytest.MonkeyPatch, answer: Callable[..., str]) -> None:
    monkeypatch.setattr(huggingface_hub, "snapshot_download", answer)


def test_a_hub_id_becomes_a_folder_without_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only weights, configurations and templates are asked for."""
    asked: dict[str, Any] = {}

    def download(name: str, **how: Any) -> str:
        asked.update(how, name=name)
        return str(tmp_path)

    _hub(monkeypatch, download)

    assert fetched("owner/model-1.0") == tmp_path
    assert asked["name"] == "owner/model-1.0"
    assert set(asked["allow_patterns"]) == {"*.safetensors", "*.json", "*.jinja"}


@pytest.mark.parametrize("name", ["/no/such/folder", "./here", "../up", "a b", "", "a/b/c", "owner/", "-x"])
def test_what_cannot_be_a_hub_id_is_not_asked_for(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """It was meant as a folder, and there is none."""
    _hub(monkeypatch, Mock(side_effect=AssertionError("asked the hub")))

    with pytest.raises(ModelError, match="no folder"):
        fetched(name)


def _refusal(status: int) -> RepositoryNotFoundError:
    return RepositoryNotFoundError("no", response=Mock(status_code=status, headers={}))


@pytest.mark.parametrize(
    ("error", "word"),
    [
        (LocalEntryNotFoundError("offline"), "connect once"),
        (_refusal(401), "status 401"),
        (PermissionError("read-only"), "read-only"),
    ],
)
def test_a_failure_is_one_sentence_that_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, error: Exception, word: str
) -> None:
    """Offline, refused, or no room on the disk."""
    _hub(monkeypatch, Mock(side_effect=error))

    with pytest.raises(ModelError, match=word) as caught:
        fetched("owner/model")

    assert "\n" not in str(caught.value)
