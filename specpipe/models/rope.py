"""Rotary position tables (Su et al., 2021), plain, linearly stretched, or stretched as Llama 3 does."""

import math

import torch

from specpipe.models.config import Rope


def tables(rope: Rope, head_size: int, positions: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return cosines and signed sines, float32 [positions, head_size].

    A head x is rotated as `x * cos + roll(x, head_size / 2) * sin`: the sines of the first half carry the
    minus sign of the usual "rotate half".
    """
    angles = torch.outer(torch.arange(positions, dtype=torch.float32), frequencies(rope, head_size))
    cos, sin = angles.cos(), angles.sin()
    return torch.cat((cos, cos), 1), torch.cat((-sin, sin), 1)


def frequencies(rope: Rope, head_size: int) -> torch.Tensor:
    """Return the angle per position of each pair of a head, float32 [head_size / 2]."""
    plain = 1.0 / (rope.theta ** (torch.arange(0, head_size, 2, dtype=torch.float32) / head_size))
    if rope.kind == "linear":
        return plain / rope.factor
    if rope.kind == "llama3":
        return _llama3(rope, plain)
    return plain


def _llama3(rope: Rope, plain: torch.Tensor) -> torch.Tensor:
    """Stretch long wavelengths by `factor`, leave short ones, and blend in between (Llama 3.1 model card)."""
    wavelengths = 2 * math.pi / plain
    turns = rope.original_context / wavelengths
    blend = ((turns - rope.low_factor) / (rope.high_factor - rope.low_factor)).clamp(0.0, 1.0)
    return (1 - blend) * plain / rope.factor + blend * plain
