import json
import subprocess
import sys
from pathlib import Path

import pytest

from specpipe.errors import ModelError
from specpipe.models import catalogue
from specpipe.models.catalogue import Draft, resolve_draft, resolve_target
from tests.models.tiny_gguf import write_gguf
from tests.tiny import tiny_llama


def _with_code(folder: Path, marker: Path) -> Path:
    path = tiny_llama(folder, 1) / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"auto_map": {"AutoModelForCausalLM": "code.Model"}}))
    (folder / "code.py").write_text(f"open({str(marker)!r}, 'w')\n")
    return folder


def test_names_are_resolved_without_torch() -> None:
    """A launcher asks, and must stay light."""
    code = (
        "import sys, specpipe.models.catalogue, specpipe.models.device\n"
        "assert not {'torch', 'transformers', 'gguf', 'huggingface_hub'} & set(sys.modules), sys.modules.keys()"
    )

    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_folder_is_itself(tmp_path: Path) -> None:
    """Relative or not."""
    folder = tiny_llama(tmp_path / "a", 1)

    assert resolve_target(str(folder)) == folder
    assert resolve_draft(str(folder), "any") == Draft(folder)


def test_a_gguf_file_is_converted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any Llama in a GGUF file can be a target."""
    monkeypatch.setenv("SPECPIPE_CACHE", str(tmp_path / "cache"))
    source = write_gguf(tiny_llama(tmp_path / "model", 1), tmp_path / "tiny.gguf")

    folder = resolve_target(str(source))

    assert folder is not None
    assert folder.is_relative_to(tmp_path / "cache")


@pytest.mark.parametrize(
    ("name", "target", "draft"),
    [
        ("none", "smollm2", Draft()),
        ("ngram", "smollm2", Draft(ngram=True)),
        ("auto", "elsewhere/else", Draft(ngram=True)),
        ("auto", "simulated", Draft(simulated=True)),
        ("simulated", "simulated", Draft(simulated=True)),
    ],
)
def test_drafts_without_a_model_have_no_folder(name: str, target: str, draft: Draft) -> None:
    """Nothing is looked for on the disk or the hub."""
    assert resolve_draft(name, target) == draft


def test_the_shipped_draft_goes_with_the_shipped_target() -> None:
    """Beside n-gram lookup by default, alone when asked for by name."""
    folder = Path(catalogue.__file__).parents[1] / "drafts" / "smollm2"

    assert resolve_draft("auto", "smollm2") == Draft(folder, ngram=True)
    assert resolve_draft("smollm2", "smollm2") == Draft(folder)


def test_ngram_may_stand_beside_any_model(tmp_path: Path) -> None:
    """With a plus."""
    folder = tiny_llama(tmp_path / "a", 1)

    assert resolve_draft(f"{folder}+ngram", "any") == Draft(folder, ngram=True)


@pytest.mark.parametrize("name", ["+ngram", "none+ngram", "auto+ngram", "simulated+ngram", "ngram+ngram", ""])
def test_what_is_no_draft_is_refused(name: str) -> None:
    """The sentence lists what may be written."""
    with pytest.raises(ModelError, match="is no draft"):
        resolve_draft(name, "smollm2")


def test_the_simulated_target_has_no_folder() -> None:
    """It is made of settings."""
    assert resolve_target("simulated") is None


def test_remote_code_is_refused_for_each_model_unless_allowed_for_it(tmp_path: Path) -> None:
    """It is never run, allowed or not."""
    marker = tmp_path / "ran"
    folder = _with_code(tmp_path / "model", marker)

    with pytest.raises(ModelError, match="trust_remote_code"):
        resolve_target(str(folder))
    with pytest.raises(ModelError, match="trust_remote_code"):
        resolve_draft(f"{folder}+ngram", "any")
    assert resolve_target(str(folder), trust_remote_code=True) == folder
    assert resolve_draft(str(folder), "any", trust_remote_code=True) == Draft(folder)
    assert not marker.exists()


def test_the_shipped_target_comes_from_the_hub_where_its_package_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its id there."""
    asked: list[str] = []

    def fetched(name: str) -> Path:
        asked.append(name)
        return tiny_llama(tmp_path, 1)

    monkeypatch.setattr(catalogue, "_PACKAGE", "no-such-package")
    monkeypatch.setattr(catalogue, "fetched", fetched)

    assert resolve_target("smollm2") == tmp_path
    assert asked == ["HuggingFaceTB/SmolLM2-135M-Instruct"]


@pytest.mark.real
def test_the_shipped_target_is_converted_from_its_package() -> None:
    """Whole, with its tokenizer."""
    folder = resolve_target("smollm2")

    assert folder is not None
    assert {"config.json", "model.safetensors", "tokenizer.json"} <= {path.name for path in folder.iterdir()}
