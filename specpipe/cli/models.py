"""Makes the models of an instance ready before its processes start, so that what cannot work fails at once."""

import filecmp
from pathlib import Path

from specpipe.errors import ModelError
from specpipe.models.catalogue import Draft, resolve_draft, resolve_target
from specpipe.models.files import read_json
from specpipe.settings import Settings
from specpipe.supervisor.placement import drafts
from specpipe.text.fingerprint import fingerprint, same_tokenizer


def make_ready(settings: Settings) -> None:
    """Fetch or convert the models that are not there yet; raise `ModelError` where they cannot be served together."""
    target, draft = settings.target, settings.draft
    folder = resolve_target(target.name, trust_remote_code=target.trust_remote_code)
    if drafts(settings):
        _check_pair(folder, resolve_draft(draft.name, target.name, trust_remote_code=draft.trust_remote_code))


def _check_pair(target: Path | None, draft: Draft) -> None:
    if draft.simulated and target is not None:
        raise ModelError("a simulated draft knows nothing of a real target; choose another draft")
    if target is None and draft.folder is not None:
        raise ModelError("a simulated target has no text for a real draft; choose the draft simulated, ngram or none")
    if target is not None and draft.folder is not None:
        _check_tokenizers(target, draft.folder)


def _check_tokenizers(target: Path, draft: Path) -> None:
    """Compare the tokenizers, or with the fingerprint that a draft without one of its own names in its place.

    Equal files are the usual case, and are compared far faster than they are understood.
    """
    one, other = target / "tokenizer.json", draft / "tokenizer.json"
    named = None if other.is_file() else read_json(draft / "config.json").get("tokenizer_fingerprint")
    if named is not None:
        _check_fingerprint(target, draft, str(named))
    elif not (one.is_file() and other.is_file() and filecmp.cmp(one, other, shallow=False)):
        same_tokenizer(target, draft)


def _check_fingerprint(target: Path, draft: Path, named: str) -> None:
    if fingerprint(target) != named:
        raise ModelError(f"{draft} was made for another tokenizer than that of {target}; choose another draft")
