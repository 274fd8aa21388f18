"""Messages to frames and back: a msgpack header, then one raw frame for each array.

Nothing is ever unpickled. What arrives is bounded before it is unpacked, and every field is checked
against its declared type before anyone sees it.
"""

import math
from collections.abc import Sequence
from typing import Any

import msgpack
import msgspec
import numpy as np

from specpipe.errors import FrameError
from specpipe.words.messages.fields import PROTOCOL, Message

MAX_HEADER = 8 << 20
MAX_FRAME = 8 << 20
Frames = list[bytes]

# Without these an array header of a few bytes may reserve as many places as the whole frame has bytes, at each
# level of nesting.
_BOUNDS = {"max_array_len": 1 << 12, "max_map_len": 64, "max_bin_len": 0, "max_ext_len": 0}
# Signed integers are token ids; a NaN is below nothing, and so fails every comparison.
_LOWEST = {"<i4": 0.0, "<f4": -math.inf, "<f8": -math.inf}


def encode(message: Message) -> Frames:
    """Return the message as frames: the header [protocol, tag, fields], then the arrays in order.

    Raise `FrameError` if a receiver would refuse it for its size, or if a text is not Unicode.
    """
    header = {name: _plain(value) for name, value in message.fields().items() if name not in message.FRAMES}
    arrays = [_packed(getattr(message, name), dtype) for name, dtype in message.FRAMES.items()]
    frames = [_packed_header(message, header), *arrays]
    if len(frames[0]) > MAX_HEADER or any(len(frame) > MAX_FRAME for frame in arrays):
        raise FrameError(f"this {type(message).__name__} is too long to be sent; shorten the request")
    return frames


class Decoder:
    """Reads the messages that one receiver understands."""

    def __init__(self, kinds: Sequence[type[Message]]) -> None:
        self._kinds = {_tag(kind): kind for kind in kinds}

    def decode(self, frames: Sequence[bytes]) -> Message:
        """Return the message in `frames`; raise `FrameError` if it is not one of ours, whole and in bounds."""
        tag, fields = _header(frames)
        kind = self._kinds.get(tag)
        if kind is None:
            raise FrameError(f"unknown message {tag[:40]!r}")
        fields |= _arrays(kind, frames[1:])
        message = _checked(kind, fields)
        _same_lengths(message)
        return message


def _tag(kind: type[Message]) -> str:
    return str(kind.__struct_config__.tag)


def _plain(value: Any) -> Any:
    return msgspec.to_builtins(value) if isinstance(value, msgspec.Struct | tuple) else value


def _packed_header(message: Message, header: dict[str, Any]) -> bytes:
    try:
        return bytes(msgpack.packb([PROTOCOL, _tag(type(message)), header]))
    except (ValueError, OverflowError) as error:
        raise FrameError(f"{type(message).__name__} cannot be packed: {error}") from error


def _packed(array: Any, dtype: str) -> bytes:
    return np.ascontiguousarray(array, dtype).tobytes()


def _header(frames: Sequence[bytes]) -> tuple[str, dict[str, Any]]:
    if not frames or len(frames[0]) > MAX_HEADER:
        raise FrameError("no header, or one that is too long")
    try:
        header = msgpack.unpackb(frames[0], strict_map_key=True, **_BOUNDS)
    except (ValueError, TypeError, msgpack.UnpackException, RecursionError) as error:
        raise FrameError(f"header is not msgpack: {error}") from error
    match header:
        case [int(protocol), str(tag), dict(fields)] if protocol == PROTOCOL:
            return tag, fields
        case [int(protocol), *_] if protocol != PROTOCOL:
            raise FrameError(f"protocol {protocol} where {PROTOCOL} is spoken")
    raise FrameError("header is not [protocol, tag, fields]")


def _arrays(kind: type[Message], frames: Sequence[bytes]) -> dict[str, Any]:
    if len(frames) != len(kind.FRAMES):
        raise FrameError(f"{len(frames)} arrays where {kind.__name__} has {len(kind.FRAMES)}")
    return {name: _array(frame, dtype) for (name, dtype), frame in zip(kind.FRAMES.items(), frames, strict=True)}


def _array(frame: bytes, dtype: str) -> Any:
    if len(frame) > MAX_FRAME or len(frame) % np.dtype(dtype).itemsize:
        raise FrameError(f"a frame of {len(frame)} bytes is no array of {dtype} within bounds")
    array = np.frombuffer(frame, dtype)
    if dtype in _LOWEST and len(array) and not array.min() >= _LOWEST[dtype]:
        raise FrameError("an array with a negative token or a number that is none")
    return array


def _checked(kind: type[Message], fields: dict[str, Any]) -> Message:
    try:
        return msgspec.convert(fields, kind)
    except (msgspec.ValidationError, ValueError, TypeError) as error:
        raise FrameError(f"{kind.__name__}: {error}") from error


def _same_lengths(message: Message) -> None:
    for group in message.EQUAL:
        if len({len(getattr(message, name)) for name in group}) != 1:
            raise FrameError(f"{type(message).__name__}: {', '.join(group)} differ in length")
