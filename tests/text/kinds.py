"""Small tokenizers of every kind of decoder that models use, each written into a folder."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

from tests.tiny import tiny_tokenizer

BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
PIECES = [
    "<unk>",
    "▁",
    "▁▁",
    "▁a",
    "b",
    "ab",
    "▁ab",
    "c",
    "日",
    "▁😀",
    "é",
    " ",
    ".",
    "x▁y",
    "##b",
    "##c",
    "n't",
    "'s",
    " .",
]


def byte_level() -> Tokenizer:
    """GPT-2, Llama 3, Qwen, SmolLM: every character of a token is a byte."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: index for index, token in enumerate([*alphabet, "ab", "Ġa", "ðŁ", "ðŁĺ", "æĹ", "¥ab"])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[("a", "b"), ("Ġ", "a"), ("ð", "Ł")]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return _with_added(tokenizer)


def byte_fallback(decoder: Any) -> Tokenizer:
    """Llama 2, Mistral, Gemma: whole pieces, and bytes for what has no piece."""
    vocabulary = {token: index for index, token in enumerate([*PIECES, *BYTES])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[], byte_fallback=True, unk_token=PIECES[0]))
    tokenizer.decoder = decoder
    return _with_added(tokenizer)


def llama() -> Tokenizer:
    """The answer's first space is stripped."""
    steps = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    return byte_fallback(decoders.Sequence(steps))


def gemma() -> Tokenizer:
    """The answer's first space stays."""
    return byte_fallback(decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]))


def metaspace() -> Tokenizer:
    """The first token loses its space marks."""
    return byte_fallback(decoders.Metaspace())


def metaspace_never() -> Tokenizer:
    """All tokens keep their spaces."""
    return byte_fallback(decoders.Metaspace(prepend_scheme="never"))


def wordpiece() -> Tokenizer:
    """Words are joined by spaces, continuations are not."""
    return byte_fallback(decoders.WordPiece())


def undecoded() -> Tokenizer:
    """Without a decoder tokens are joined by spaces."""
    return byte_fallback(None)


KINDS: dict[str, Callable[[], Tokenizer]] = {
    kind.__name__: kind for kind in (byte_level, llama, gemma, metaspace, metaspace_never, wordpiece, undecoded)
}


def tiny(folder: Path) -> Path:
    """Write the tiny models' tokenizer of 500 tokens into a folder of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    return tiny_tokenizer(folder)


def write(tokenizer: Tokenizer, folder: Path, **config: Any) -> Path:
    """Save a tokenizer and its configuration as a model folder has them."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return folder


def _with_added(tokenizer: Tokenizer) -> Tokenizer:
    tokenizer.add_special_tokens(["<s>", "</s>"])
    tokenizer.add_tokens([AddedToken("<tool call 😀>", special=False)])
    return tokenizer
