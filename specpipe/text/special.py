"""What a model's configuration says beside its tokenizer: special tokens, stop tokens, the chat template."""

from pathlib import Path
from typing import Any

from specpipe.errors import ModelError
from specpipe.text.files import stored_json

_NAMES = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")


def special_tokens(folder: Path, config: dict[str, Any]) -> dict[str, str]:
    """Return the special tokens by name, from `special_tokens_map.json` and over it `tokenizer_config.json`."""
    entries = stored_json(folder / "special_tokens_map.json") | config
    named = {name: entries[name] for name in _NAMES if entries.get(name)}
    return {name: token["content"] if isinstance(token, dict) else str(token) for name, token in named.items()}


def stop_tokens(folder: Path, end: int | None) -> frozenset[int]:
    """Return all end tokens of `config.json` and `generation_config.json`; if they name none, `end`."""
    named: set[int] = set()
    for name in ("config.json", "generation_config.json"):
        ids = stored_json(folder / name).get("eos_token_id")
        named.update(ids if isinstance(ids, list) else [] if ids is None else [ids])
    if not all(type(token) is int and token >= 0 for token in named):
        raise ModelError(f"{folder} names end tokens {sorted(map(str, named))}; eos_token_id must hold token ids")
    return frozenset(named or ([] if end is None else [end]))


def template_source(folder: Path, config: dict[str, Any]) -> str | None:
    """Return the chat template: `chat_template.jinja`, else that of the configuration (of several, "default")."""
    path = folder / "chat_template.jinja"
    try:
        if path.is_file():
            return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError(f"cannot read {path}: {error}") from error
    source = config.get("chat_template")
    if isinstance(source, list):
        source = {entry.get("name"): entry.get("template") for entry in source}.get("default")
    return source if isinstance(source, str) else None
