"""Any message of the protocol, as a hypothesis strategy derived from its declaration."""

import typing

import msgspec
import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from msgspec import inspect

from specpipe.words.messages import TO_CLIENT, TO_COORDINATOR, TO_DRAFTER, TO_VERIFIER, Message
from specpipe.words.sampling import MAX_SEED, Sampling

KINDS: tuple[type[Message], ...] = tuple(dict.fromkeys([*TO_COORDINATOR, *TO_DRAFTER, *TO_VERIFIER, *TO_CLIENT]))
_ELEMENTS: dict[str, dict[str, typing.Any]] = {
    "<i4": {"min_value": 0},
    "<u8": {},
    "<f4": {"allow_nan": False},
    "<f8": {"allow_nan": False},
}
_ADDRESSES = st.sampled_from(["ipc:///run/user/1000/specpipe/ab12/e-34", "tcp://127.0.0.1:40000", "memory://7"])
_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


def messages(kind: type[Message]) -> st.SearchStrategy[Message]:
    """Return a strategy for valid messages of one kind."""
    return st.integers(0, 5).flatmap(lambda length: _of(kind, length))


def _of(kind: type[Message], length: int) -> st.SearchStrategy[Message]:
    return st.builds(kind, **_plain(kind), **{name: _array(dtype, length) for name, dtype in kind.FRAMES.items()})


def _plain(kind: type[msgspec.Struct]) -> dict[str, st.SearchStrategy[typing.Any]]:
    declared = inspect.type_info(kind)
    assert isinstance(declared, inspect.StructType)
    framed = getattr(kind, "FRAMES", {})
    return {field.name: _value(field.name, field.type) for field in declared.fields if field.name not in framed}


def _array(dtype: str, length: int) -> st.SearchStrategy[typing.Any]:
    return arrays.arrays(np.dtype(dtype), length, elements=arrays.from_dtype(np.dtype(dtype), **_ELEMENTS[dtype]))


def _value(name: str, declared: inspect.Type) -> st.SearchStrategy[typing.Any]:
    match declared:
        case inspect.IntType():
            return _integer(name, declared)
        case inspect.FloatType(ge=least, gt=above, le=most):
            return st.floats(_or(least, _or(above, -1e9)), _or(most, 1e9), exclude_min=above is not None)
        case inspect.StrType(pattern=pattern, min_length=least):
            return _ADDRESSES if pattern else _TEXT.filter(lambda text: len(text) >= (least or 0))
        case inspect.BoolType():
            return st.booleans()
        case inspect.LiteralType(values=values):
            return st.sampled_from(values)
    return _compound(name, declared)


def _compound(name: str, declared: inspect.Type) -> st.SearchStrategy[typing.Any]:
    match declared:
        case inspect.VarTupleType(item_type=item, min_length=least):
            return st.lists(_value(name, item), min_size=least or 0, max_size=3).map(tuple)
        case inspect.TupleType(item_types=items):
            return st.tuples(*(_value(name, item) for item in items))
        case inspect.StructType(cls=cls):
            return st.builds(cls, **_plain(cls))
    raise TypeError(declared)


def _integer(name: str, declared: inspect.IntType) -> st.SearchStrategy[int]:
    if name == "seed":
        return st.integers(0, MAX_SEED)
    return st.integers(_or(declared.ge, 0), _or(declared.le, (1 << 63) - 1))


def _or(bound: float | None, otherwise: float) -> typing.Any:
    return otherwise if bound is None else bound


def samplings() -> st.SearchStrategy[Sampling]:
    """Return a strategy for valid sampling parameters."""
    return st.builds(Sampling, **_plain(Sampling))


def alike(one: object, other: object) -> bool:
    """Whether two field values are equal, arrays by dtype and contents."""
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    return one == other
