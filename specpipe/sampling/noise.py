"""Noise that is a pure function of (seed, position, token id), so that two processes draw the same.

The integers are equal on every device; the logarithms need not be in their last bits, which costs a
little acceptance and never exactness. The mixing constants are those of lowbias32 (Wellons, 2018).
"""

from enum import IntEnum

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from specpipe.words.prefix import extend, origin

_MASK = 0xFFFFFFFF
_FIRST = 0x7FEB352D
_SECOND = 0x846CA68B
# Equal modulo 2**32, and small enough that a product with 32 bits never leaves int64.
_SECOND_SIGNED = _SECOND - (1 << 32)
_STEP = 2.0**-32


class Stream(IntEnum):
    """What noise is for; streams of different purpose are independent of one another."""

    COUPLED = 0
    DRAFT = 1
    ACCEPT = 2
    RESIDUAL = 3
    BONUS = 4


def integers(seed: int, position: int, token_ids: Tensor, stream: Stream = Stream.COUPLED) -> Tensor:
    """Return uniform integers below 2**32 for `token_ids`, int64 of the same shape and device."""
    key = _key(seed, position, stream)
    if token_ids.device.type == "cpu":
        return torch.from_numpy(_hash_on_cpu(token_ids, key).astype(np.int64))
    return _hash_anywhere(token_ids, key)


def gumbel(seed: int, position: int, token_ids: Tensor, stream: Stream = Stream.COUPLED) -> Tensor:
    """Return standard Gumbel noise for `token_ids`, float64 of the same shape and device, within -3.2 .. 22.9.

    With v = (k + 1/2) 2**-32 it is -log(-log1p(-v)): all 32 bits count in the upper tail, which decides.
    """
    key = _key(seed, position, stream)
    if token_ids.device.type == "cpu":
        return torch.from_numpy(_gumbel_on_cpu(_hash_on_cpu(token_ids, key)))
    return -torch.log(-torch.log1p((_hash_anywhere(token_ids, key).double() + 0.5) * -_STEP))


def _key(seed: int, position: int, stream: Stream) -> tuple[int, int]:
    mixed = extend(origin(seed), (stream, position))
    return mixed & _MASK, mixed >> 32


def _hash_on_cpu(token_ids: Tensor, key: tuple[int, int]) -> npt.NDArray[np.uint32]:
    # A quarter of the time of int64 arithmetic; unsigned products wrap by definition.
    words = token_ids.numpy().astype(np.uint32)
    words += np.uint32(key[0])
    words ^= words >> 16
    words *= np.uint32(_FIRST)
    words ^= np.uint32(key[1])
    words ^= words >> 15
    words *= np.uint32(_SECOND)
    words ^= words >> 16
    return words


def _hash_anywhere(token_ids: Tensor, key: tuple[int, int]) -> Tensor:
    words = (token_ids.long() + key[0]) & _MASK
    words ^= words >> 16
    words = (words * _FIRST) & _MASK
    words ^= key[1]
    words ^= words >> 15
    words = (words * _SECOND_SIGNED) & _MASK
    words ^= words >> 16
    return words


def _gumbel_on_cpu(words: npt.NDArray[np.uint32]) -> npt.NDArray[np.float64]:
    noise = words.astype(np.float64)
    noise += 0.5
    noise *= -_STEP
    np.log1p(noise, out=noise)
    np.negative(noise, out=noise)
    np.log(noise, out=noise)
    np.negative(noise, out=noise)
    return noise
