"""What the models of an instance are, without loading them: their tokenizers and fingerprints."""

from pathlib import Path

from specpipe.models.catalogue import resolve_draft, resolve_target
from specpipe.models.files import read_json
from specpipe.settings import Settings
from specpipe.text.fingerprint import fingerprint
from specpipe.text.seam import Tokenizer
from specpipe.text.simulated import SimulatedTokenizer
from specpipe.text.tokenizer import load


def tokenizer(settings: Settings) -> Tokenizer:
    """Return the target's tokenizer; raise `ModelError`."""
    folder = _target(settings)
    return SimulatedTokenizer() if folder is None else load(folder)


def target_fingerprint(settings: Settings) -> str:
    """Return the fingerprint of the target's tokenizer, empty for the simulated one."""
    folder = _target(settings)
    return "" if folder is None else fingerprint(folder)


def draft_fingerprint(settings: Settings) -> str:
    """Return the fingerprint of the draft's tokenizer, as it names it or has it; empty where any target fits."""
    draft = settings.draft
    folder = resolve_draft(draft.name, settings.target.name, trust_remote_code=draft.trust_remote_code).folder
    if folder is None:
        return ""
    if (folder / "tokenizer.json").is_file():
        return fingerprint(folder)
    return str(read_json(folder / "config.json").get("tokenizer_fingerprint", ""))


def _target(settings: Settings) -> Path | None:
    return resolve_target(settings.target.name, trust_remote_code=settings.target.trust_remote_code)
