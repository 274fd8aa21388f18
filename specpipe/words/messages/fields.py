"""The kinds of field that messages are made of, with the bounds that every arrival is checked against."""

from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from msgspec import Meta, Struct

from specpipe.settings import LONGEST_NAME

PROTOCOL = 1

Id = Annotated[int, Meta(ge=0, le=(1 << 62))]
Life = Annotated[int, Meta(ge=0, le=1 << 31)]
Count = Annotated[int, Meta(ge=0, le=1 << 31)]
Seconds = Annotated[float, Meta(ge=0.0, le=1e12)]
Name = Annotated[str, Meta(max_length=256)]
Model = Annotated[str, Meta(max_length=LONGEST_NAME)]
Text = Annotated[str, Meta(max_length=1 << 22)]
Address = Annotated[str, Meta(max_length=512, pattern=r"^(ipc|tcp|memory)://")]
Role = Literal["drafter", "verifier"]

Tokens = npt.NDArray[np.int32]
Hashes = npt.NDArray[np.uint64]
Reals = npt.NDArray[np.float32]
Moments = npt.NDArray[np.float64]


def no_tokens() -> Tokens:
    """Return no tokens."""
    return np.empty(0, np.int32)


def no_reals() -> Reals:
    """Return no numbers."""
    return np.empty(0, np.float32)


class Message(Struct, frozen=True, forbid_unknown_fields=True, eq=False):
    """Base of all messages: small fields in a msgpack header, the arrays named by `FRAMES` beside it.

    `FRAMES` maps an array field to its little-endian dtype; `EQUAL` groups the arrays that must have
    the same length.
    """

    FRAMES: ClassVar[dict[str, str]] = {}
    EQUAL: ClassVar[tuple[tuple[str, ...], ...]] = ()

    def fields(self) -> dict[str, Any]:
        """Return the fields by name, in the order of their declaration."""
        return {name: getattr(self, name) for name in self.__struct_fields__}
