"""Every message survives the wire, and nothing else on the wire is taken for one."""

import math
from collections.abc import Callable
from typing import Any

import msgpack
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specpipe.errors import FrameError
from specpipe.words.messages import PROTOCOL, Close, Delta, Edges, Message, Pulse, Verdict
from specpipe.words.messages.codec import MAX_FRAME, MAX_HEADER, Decoder, encode
from tests.words.strategies import KINDS, alike, messages

DECODER = Decoder(KINDS)
PACKABLE = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 63), (1 << 64) - 1) | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.binary() | st.integers(-9, 9), inner),
)


def some_edges(**changes: Any) -> Edges:
    """Return two edges, with some fields changed."""
    fields: dict[str, Any] = {
        "request": 1,
        "steps": 2,
        "step_s": 0.005,
        "parents": np.array([5, 6], np.uint64),
        "tokens": np.array([7, 8], np.int32),
        "log_q": np.array([-0.5, -1.5], np.float32),
        "chances": np.array([0.6, 0.2], np.float32),
    }
    return Edges(**fields | changes)


def with_header(change: Callable[[dict[str, Any]], object]) -> list[bytes]:
    """Return the frames of two edges whose header was tampered with."""
    header, *arrays = encode(some_edges())
    protocol, tag, fields = msgpack.unpackb(header)
    change(fields)
    return [msgpack.packb([protocol, tag, fields]), *arrays]


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_every_message_comes_back_equal(kind: type[Message], data: st.DataObject) -> None:
    """Decoding what was encoded gives the same kind with the same fields, arrays with their dtype."""
    message = data.draw(messages(kind))
    decoded = DECODER.decode(encode(message))

    assert type(decoded) is kind
    different = [name for name, value in message.fields().items() if not alike(value, decoded.fields()[name])]
    assert different == []


@given(st.lists(st.binary(max_size=200), max_size=8))
def test_random_frames_raise_nothing_but_frame_error(frames: list[bytes]) -> None:
    """Bytes that nobody meant are refused in the one way that receivers expect."""
    with pytest.raises(FrameError):
        DECODER.decode(frames)


@given(st.sampled_from(KINDS), PACKABLE, st.lists(st.binary(max_size=40), max_size=5))
def test_a_valid_envelope_with_anything_inside_raises_nothing_but_frame_error(
    kind: type[Message], fields: object, arrays: list[bytes]
) -> None:
    """Whatever msgpack can express in place of the fields is refused, or is a whole message."""
    tag = kind.__struct_config__.tag
    try:
        decoded = DECODER.decode([msgpack.packb([PROTOCOL, tag, fields]), *arrays])
    except FrameError:
        return
    assert type(decoded) is kind


@given(st.data())
def test_one_changed_byte_raises_nothing_but_frame_error(data: st.DataObject) -> None:
    """A message damaged on its way is refused, or still keeps every bound."""
    frames = encode(data.draw(st.sampled_from(KINDS).flatmap(messages)))
    which = data.draw(st.integers(0, len(frames) - 1))
    damaged = bytearray(frames[which] or b"\0")
    damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    try:
        decoded = DECODER.decode([*frames[:which], bytes(damaged), *frames[which + 1 :]])
    except FrameError:
        return
    assert isinstance(decoded, Message)


@given(st.data())
def test_a_field_of_another_type_is_refused(data: st.DataObject) -> None:
    """Each field of an otherwise valid header must have its own type."""
    name = data.draw(st.sampled_from(["request", "steps", "step_s"]))
    wrong = data.draw(st.none() | st.booleans() | st.text() | st.lists(st.integers(0, 9)) | st.just(math.nan))
    with pytest.raises(FrameError):
        DECODER.decode(with_header(lambda fields: fields.update({name: wrong})))


@pytest.mark.parametrize("count", [0, 1, 4, 6, 100])
def test_another_number_of_frames_is_refused(count: int) -> None:
    """Edges are five frames, no fewer and no more."""
    frames = (encode(some_edges()) + [b""] * 100)[:count]
    with pytest.raises(FrameError):
        DECODER.decode(frames)


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"\xc1",
        msgpack.packb(None),
        msgpack.packb([]),
        msgpack.packb([PROTOCOL]),
        msgpack.packb([PROTOCOL, "close"]),
        msgpack.packb([PROTOCOL, "close", []]),
        msgpack.packb([PROTOCOL, 3, {"request": 1}]),
        msgpack.packb([PROTOCOL, "close", {"request": 1}, 0]),
        msgpack.packb([PROTOCOL, "close", {"request": 1}]) + b"\0",
        msgpack.packb([PROTOCOL, "close", {"request": 1}])[:-1],
    ],
)
def test_a_header_of_another_shape_is_refused(header: bytes) -> None:
    """A header is [protocol, tag, fields], whole and with nothing behind it."""
    with pytest.raises(FrameError):
        DECODER.decode([header])


def test_another_protocol_is_refused_by_its_number() -> None:
    """A peer of another release is told apart from garbage."""
    with pytest.raises(FrameError, match=f"protocol {PROTOCOL + 1}"):
        DECODER.decode([msgpack.packb([PROTOCOL + 1, "close", {"request": 1}, "more"])])


@pytest.mark.parametrize("tag", ["", "opened", "x" * 100_000])
def test_an_unknown_type_is_refused_in_few_words(tag: str) -> None:
    """What is not in the table of contents is no message, and its name cannot flood the log."""
    with pytest.raises(FrameError, match="unknown message") as refusal:
        DECODER.decode([msgpack.packb([PROTOCOL, tag, {}])])
    assert len(str(refusal.value)) < 200


def test_a_known_message_for_someone_else_is_refused() -> None:
    """A receiver only understands the kinds that it was made for."""
    with pytest.raises(FrameError, match="unknown message"):
        Decoder([Pulse]).decode(encode(Close(1)))


@pytest.mark.parametrize("value", [-1, 1 << 63, -(1 << 63)])
def test_a_negative_or_huge_number_is_refused(value: int) -> None:
    """Counts and ids keep their bounds."""
    with pytest.raises(FrameError):
        DECODER.decode(with_header(lambda fields: fields.update(steps=value)))


def test_unknown_and_missing_fields_are_refused() -> None:
    """A header has exactly the declared fields."""
    with pytest.raises(FrameError):
        DECODER.decode(with_header(lambda fields: fields.update(more=1)))
    with pytest.raises(FrameError):
        DECODER.decode(with_header(lambda fields: fields.pop("steps")))


@pytest.mark.parametrize(
    "changes",
    [
        {"tokens": np.array([7], np.int32)},
        {"tokens": np.array([7, -1], np.int32)},
        {"log_q": np.array([0, math.nan], np.float32)},
        {"chances": np.array([math.nan, 0], np.float32)},
    ],
)
def test_arrays_that_cannot_be_meant_are_refused(changes: dict[str, Any]) -> None:
    """Lengths that differ, negative tokens and NaN are stopped at the door."""
    with pytest.raises(FrameError):
        DECODER.decode(encode(some_edges(**changes)))


def test_a_logarithm_of_nothing_is_taken() -> None:
    """The logarithm of a chance of 0 is minus infinity, which is a number here."""
    decoded = DECODER.decode(encode(some_edges(log_q=np.array([-math.inf, 0], np.float32))))

    assert isinstance(decoded, Edges)
    assert decoded.log_q.tolist() == [-math.inf, 0.0]


def test_an_array_cut_in_the_middle_of_a_number_is_refused() -> None:
    """The bytes of a frame are a whole number of elements."""
    header, parents, tokens, log_q, chances = encode(some_edges())
    with pytest.raises(FrameError):
        DECODER.decode([header, parents, tokens[:-1], log_q, chances])


@pytest.mark.parametrize(
    "header",
    [
        b"\xdd\xff\xff\xff\xff",
        b"\xdf\xff\xff\xff\xff",
        b"\xdb\xff\xff\xff\xff",
        b"\xc6\xff\xff\xff\xff",
        b"\xc9\xff\xff\xff\xff\x01",
        b"\x91" * 100_000,
        b"\x93\x01\xa5close" + b"\x81\xa7request" * 100_000,
        b"\x93\x01\xa5close\x81\xa7request\xc7\x03\xff\x01\x02\x03",
        b"\x93\x01\xa5close\x81\x91\x01\x01",
        b"\xa2\xff\xff",
    ],
)
def test_msgpack_that_lies_about_its_size_is_refused(header: bytes) -> None:
    """Array, map, string, binary and extension headers, and their nesting, are bounded before anything is made."""
    with pytest.raises(FrameError):
        DECODER.decode([header])


def test_nested_array_headers_reserve_no_memory() -> None:
    """An array header is refused by its own number, even where the frame has bytes enough behind it."""
    claim = b"\xdd" + (1 << 20).to_bytes(4, "big")
    with pytest.raises(FrameError, match="max_array_len"):
        DECODER.decode([claim * 400 + b"\xc0" * (1 << 20)])


def test_what_is_too_long_is_not_even_unpacked() -> None:
    """Frames beyond the bounds are refused by their length."""
    header, *arrays = encode(some_edges())
    with pytest.raises(FrameError):
        DECODER.decode([bytes(MAX_HEADER + 1), *arrays])
    with pytest.raises(FrameError):
        DECODER.decode([header, bytes(MAX_FRAME + 8), *arrays[1:]])


def test_what_no_receiver_would_take_is_not_sent() -> None:
    """The sender learns of a message beyond the bounds, instead of waiting for an answer that cannot come."""
    long: Any = np.zeros(MAX_FRAME // 4 + 1, np.int32)
    with pytest.raises(FrameError, match="too long"):
        encode(Delta(1, "", long, long))
    with pytest.raises(FrameError, match="too long"):
        encode(Delta(1, "\N{SNOWMAN}" * (MAX_HEADER // 3 + 1), long[:0], long[:0]))


def test_a_lone_surrogate_is_not_sent() -> None:
    """Text that has no UTF-8 form is refused with a `FrameError`, not in the depths of the packer."""
    with pytest.raises(FrameError, match="Delta"):
        encode(Delta(1, "\ud83d", np.zeros(0, np.int32), np.zeros(0, np.float32)))


def test_an_array_of_another_type_is_sent_as_declared() -> None:
    """Plain lists and wider integers take the declared dtype on the wire."""
    tokens: Any = [1, 2]
    decoded = DECODER.decode(encode(some_edges(tokens=tokens)))

    assert isinstance(decoded, Edges)
    assert decoded.tokens.dtype == np.int32
    assert decoded.tokens.tolist() == [1, 2]


def test_a_received_array_cannot_be_changed() -> None:
    """What arrived is shared by all who look at it, so nobody may write into it."""
    verdict = Verdict(1, 1, 0, 0, 0, 0, False, 0.0, 0.0, "", np.array([3], np.int32), np.array([-1.0], np.float32))
    decoded = DECODER.decode(encode(verdict))

    assert isinstance(decoded, Verdict)
    assert not decoded.tokens.flags.writeable
