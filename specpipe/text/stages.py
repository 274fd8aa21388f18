"""The steps of a tokenizer's decoder, each fed one piece at a time and holding back only what may still change."""

import codecs
import json
import re
from typing import Any, ClassVar, Protocol

from tokenizers import Tokenizer, pre_tokenizers

from specpipe.errors import ModelError

_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2}|\+[0-9A-Fa-f])>")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


class Stage(Protocol):
    """One step: pieces in, pieces out."""

    def push(self, piece: str) -> list[str]:
        """Take a piece and return the pieces that no later one can change."""
        ...

    def finish(self) -> list[str]:
        """Return the pieces still held back."""
        ...


class Spaced:
    """Without any decoder the pieces are joined by spaces."""

    def __init__(self) -> None:
        self._joint = ""

    def push(self, piece: str) -> list[str]:
        """Return the piece, behind a space unless it is the first."""
        joint, self._joint = self._joint, " "
        return [joint + piece]

    def finish(self) -> list[str]:
        """Return nothing: nothing is held back."""
        return []


class Wordwise:
    """A step that looks at one piece at a time and at whether it is the first; the library does the work."""

    _ANCHOR = "a"

    def __init__(self, spec: dict[str, Any]) -> None:
        self._decoder = _decoder_of(spec)
        self._before: list[str] = []
        self._cut = 0

    def push(self, piece: str) -> list[str]:
        """Return the piece as it reads at its place."""
        text = self._decoder.decode([*self._before, piece])[self._cut :]
        if not self._before:
            self._before = [self._ANCHOR]
            self._cut = len(self._decoder.decode(self._before))
        return [text]

    def finish(self) -> list[str]:
        """Return nothing: nothing is held back."""
        return []


class Bytewise:
    """Byte-level BPE: each character of a piece stands for a byte; unknown characters for their own UTF-8."""

    _BYTES: ClassVar[dict[str, int]] = dict(
        zip(
            sorted(pre_tokenizers.ByteLevel.alphabet()),
            [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100), *range(0x21), *range(0x7F, 0xA1), 0xAD],
            strict=True,
        )
    )

    def __init__(self) -> None:
        self._utf8 = codecs.getincrementaldecoder("utf-8")("replace")

    def push(self, piece: str) -> list[str]:
        """Return the characters that are whole now."""
        return [self._utf8.decode(self._bytes(piece))]

    def finish(self) -> list[str]:
        """Return U+FFFD for half a character."""
        return [self._utf8.decode(b"", final=True)]

    def _bytes(self, piece: str) -> bytes:
        try:
            return bytes(self._BYTES[character] for character in piece)
        except KeyError:
            return piece.encode("utf-8")


class ByteRuns:
    """Pieces such as <0xE2> are bytes. A run of them is text only if the whole run is UTF-8, so it is held back."""

    def __init__(self) -> None:
        self._run = bytearray()

    def push(self, piece: str) -> list[str]:
        """Hold a byte back; return any other piece behind the run that it ends."""
        match = _BYTE.fullmatch(piece)
        if match is None:
            return [*self.finish(), piece]
        self._run.append(int(match[1], 16))
        return []

    def finish(self) -> list[str]:
        """Return the run: as text, or U+FFFD for each of its bytes."""
        run, self._run = bytes(self._run), bytearray()
        if not run:
            return []
        try:
            return [run.decode("utf-8")]
        except UnicodeDecodeError:
            return [_REPLACEMENT] * len(run)


class Stripped:
    """Of the whole text, up to `count` leading characters that equal `content` are removed."""

    def __init__(self, content: str, count: int) -> None:
        self._content = content
        self._count = count

    def push(self, piece: str) -> list[str]:
        """Return the piece without what is stripped from the text's start."""
        while piece and self._count:
            if not piece.startswith(self._content):
                self._count = 0
                break
            piece = piece[1:]
            self._count -= 1
        return [piece]

    def finish(self) -> list[str]:
        """Return nothing: nothing is held back."""
        return []


def stages_of(spec: dict[str, Any] | None) -> list[Stage]:
    """Build the steps of the decoder that a tokenizer.json describes; raise `ModelError` for one that cannot stream."""
    if spec is None:
        return [Spaced()]
    stages: list[Stage] = []
    fused = False
    for step in spec["decoders"] if spec["type"] == "Sequence" else [spec]:
        stages += _stages_of_step(step, fused=fused)
        fused = fused or step["type"] in {"Fuse", "ByteLevel"}
    return stages


def _stages_of_step(spec: dict[str, Any], *, fused: bool) -> list[Stage]:
    match spec["type"]:
        case "Fuse":
            return []
        case "Strip" if fused and spec["stop"] == 0:
            return [Stripped(spec["content"], spec["start"])]
        case "ByteLevel" if not fused:
            return [Bytewise()]
        case "ByteFallback" if not fused:
            return [ByteRuns()]
        case "Replace" | "Metaspace" | "WordPiece" | "Strip" if not fused:
            return [Wordwise(spec)]
    raise ModelError(f"the tokenizer's decoder has a step {spec['type']!r} that cannot be streamed; use another model")


def _decoder_of(spec: dict[str, Any]) -> Any:
    empty = {"version": "1.0", "added_tokens": [], "model": {"type": "BPE", "vocab": {}, "merges": []}}
    return Tokenizer.from_str(json.dumps(empty | {"decoder": spec})).decoder
