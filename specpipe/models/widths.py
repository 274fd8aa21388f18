"""At which numbers of rows the arithmetic gives a row the same bits as it has among `WIDTH` rows.

Matrix kernels choose the order of their sums by the shape of the problem. Which shapes agree is a property
of the machine, so it is found out there; see `probes`.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import torch

WIDTH = 8
CHOICES = (2, 4, 8, 16, 24, 32)


class Probe(NamedTuple):
    """A computation on rows, and what makes a number of rows to try it on."""

    run: Callable[[torch.Tensor], torch.Tensor]
    rows: Callable[[int], torch.Tensor]


class Widths:
    """The proved widths, and how a number of rows is cut and padded to them."""

    def __init__(self, proved: Iterable[int] = ()) -> None:
        self.proved = tuple(sorted({WIDTH, *proved}))
        self._known: dict[int, tuple[int, ...]] = {}

    def blocks(self, rows: int) -> tuple[int, ...]:
        """Return proved widths, in order, that hold `rows` rows with fewer than `WIDTH` to spare."""
        if rows not in self._known:
            self._known[rows] = self._cut(rows)
        return self._known[rows]

    def _cut(self, rows: int) -> tuple[int, ...]:
        whole, rest = divmod(rows, self.proved[-1])
        full = (self.proved[-1],) * whole
        if rest == 0:
            return full
        fitting = next(width for width in self.proved if width >= rest)
        return (*full, fitting) if fitting - rest < WIDTH else full + (WIDTH,) * -(-rest // WIDTH)


def proved_widths(probes: Iterable[Probe]) -> tuple[int, ...]:
    """Return the choices at which the rows of every probe keep their bits."""
    tried = list(probes)
    return tuple(width for width in CHOICES if all(same_bits(probe, width) for probe in tried))


def same_bits(probe: Probe, width: int) -> bool:
    """Return whether rows run `width` at a time, in another order, have the bits that they have `WIDTH` at a time."""
    rows = probe.rows(2 * max(WIDTH, width))
    order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(width)).to(rows.device)
    usual = torch.cat([probe.run(part) for part in torch.split(rows, WIDTH)])
    other = torch.cat([probe.run(part) for part in torch.split(rows[order], width)])
    return torch.equal(usual[order], other)
