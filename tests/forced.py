"""A tiny Llama that writes one given text, token by token, whatever its bytes: each of its tokens has one successor."""

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from tests.tiny import EOS, SPECIALS, tiny_llama

_LONGEST = 4
_ZEROED = ("o_proj.weight", "down_proj.weight")


@dataclass(frozen=True, slots=True)
class Forced:
    """The folder; after `prompt` the model writes `tokens`, whose text is the forced one, and then the end token."""

    folder: Path
    prompt: list[int]
    tokens: list[int]


def forced_llama(folder: Path, text: str, *, layers: int = 1) -> Forced:
    """Write the model and its byte-level tokenizer; the text is cut anywhere, also within characters.

    More layers take more time and change nothing.
    """
    tiny_llama(folder, 1, layers=layers)
    pieces = _pieces(text.encode())
    vocabulary = {token: index for index, token in enumerate((*SPECIALS, *sorted(pre_tokenizers.ByteLevel.alphabet())))}
    for piece in pieces:
        vocabulary.setdefault(piece, len(vocabulary))
    _write_tokenizer(folder, vocabulary)
    tokens = [vocabulary[piece] for piece in pieces]
    start = next(token for token in range(len(SPECIALS), len(vocabulary)) if token not in tokens)
    _chain(folder, [start, *tokens, EOS])
    return Forced(folder, [start], tokens)


def _pieces(data: bytes) -> list[str]:
    """Cut into pieces of which no two are equal, each as short as can be, in the alphabet of byte-level tokenizers."""
    pieces: list[str] = []
    at = 0
    while at < len(data):
        lengths = range(1, min(_LONGEST, len(data) - at) + 1)
        piece = next(word for word in (_spelt(data[at : at + length]) for length in lengths) if word not in pieces)
        pieces.append(piece)
        at += len(piece)
    return pieces


def _spelt(data: bytes) -> str:
    """Spell bytes as GPT-2 does: printable ones are themselves, the others follow after 255 in their order."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return "".join(chr(byte if byte in printable else 256 + others.index(byte)) for byte in data)


def _write_tokenizer(folder: Path, vocabulary: dict[str, int]) -> None:
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(list(SPECIALS))
    tokenizer.save(str(folder / "tokenizer.json"))


def _chain(folder: Path, path: list[int]) -> None:
    """Take attention and MLP out, and let the head answer each token's embedding with the next of the path."""
    path_of = folder / "model.safetensors"
    tensors = load_file(path_of)
    embedding = torch.randn(tensors["model.embed_tokens.weight"].shape, generator=torch.Generator().manual_seed(7))
    head = torch.zeros_like(embedding)
    for token, following in pairwise(path):
        head[following] = embedding[token]
    tensors = {name: torch.zeros_like(each) if name.endswith(_ZEROED) else each for name, each in tensors.items()}
    tensors |= {"model.embed_tokens.weight": embedding, "lm_head.weight": head}
    tensors["model.norm.weight"] = torch.ones_like(tensors["model.norm.weight"])
    save_file(tensors, path_of, {"format": "pt"})
