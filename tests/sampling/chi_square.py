"""How likely counts as uneven as these are, if they follow the expected law (Pearson's chi-square)."""

import torch
from torch import Tensor


def chance(counts: Tensor, expected: Tensor) -> float:
    """Return the p-value of `counts` against `expected`, both [kinds].

    Kinds that are expected less than 5 times count as one.
    """
    counts, expected = counts.double(), expected.double()
    rare = expected < 5
    if bool(rare.any()):
        counts = torch.cat((counts[~rare], counts[rare].sum()[None]))
        expected = torch.cat((expected[~rare], expected[rare].sum()[None]))
    statistic = ((counts - expected) ** 2 / expected.clamp(min=1e-9)).sum()
    return float(torch.special.gammaincc(torch.tensor((len(counts) - 1) / 2, dtype=torch.float64), statistic / 2))
