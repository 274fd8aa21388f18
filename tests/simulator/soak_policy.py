"""The policy against every fixed setting, in virtual time: `python -m tests.simulator.soak_policy`.

For each device and draft the verifier's own choice is compared with the best of the fixed numbers of nodes and shapes,
and with the target alone. Takes a quarter of an hour.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from multiprocessing import Pool

from specpipe.simulator.world import Devices, World
from specpipe.words.sampling import Mode, Shape
from tests.minds.requests import opening

PASS_S = 0.1
TOKENS = 120
USELESS = (0.01, 0.01, 0.01, 0.01)
DRAFTS = (USELESS, (0.5, 0.15, 0.08, 0.05), (0.7, 0.12, 0.05, 0.03), (0.9, 0.05, 0.02, 0.01))
STEPS = (1 / 40, 1 / 10, 1 / 4, 1 / 2, 1.0)
ROWS = (0.0, 0.01, 0.05)
REQUESTS = (1, 4, 16)
MOST_STEPS = 10_000
FIXED: tuple[tuple[Shape, int], ...] = (
    *(("chain", nodes) for nodes in (1, 4, 8)),
    *(("tree", nodes) for nodes in (4, 8, 16, 32)),
)


@dataclass(frozen=True, slots=True)
class Cell:
    """One draft on one pair of devices: a step and a further row in shares of a pass, and so many requests."""

    w: Sequence[float]
    step: float
    row: float
    requests: int

    def rate(self, mode: Mode, shape: Shape, nodes: int) -> float:
        """Return the tokens a second of a setting."""
        devices = Devices(self.w, step=self.step * PASS_S, passing=PASS_S, row=self.row * PASS_S)
        asked = [
            opening(number, prompt=[number], mode=mode, check=shape, nodes=nodes, max_tokens=TOKENS)
            for number in range(1, self.requests + 1)
        ]
        return self.requests * TOKENS / World.of(devices, requests=self.requests).run(*asked)

    def compared(self) -> "Result":
        """Return how the free choice does beside all others."""
        fixed = {(shape, nodes): self.rate("pipelined", shape, nodes) for shape, nodes in FIXED}
        best = max(fixed, key=lambda setting: fixed[setting])
        target = self.rate("target", "chain", 0)
        return Result(self, self.rate("pipelined", "auto", 0), target, best, fixed[best])


@dataclass(frozen=True, slots=True)
class Result:
    """Tokens a second of the free choice, of the target alone, and of the best fixed setting."""

    cell: Cell
    chosen: float
    target: float
    setting: tuple[Shape, int]
    best: float

    def __str__(self) -> str:
        """Return a line of the report."""
        cell, (shape, nodes) = self.cell, self.setting
        share = self.chosen / max(self.best, self.target)
        marks = " <" if share < 0.95 or self.chosen < 0.97 * self.target else ""
        return (
            f"w1 {cell.w[0]:.2f}  step {cell.step:.3f}  row {cell.row:.2f}  requests {cell.requests:2d}  "
            f"speedup {self.chosen / self.target:5.2f}  best {self.best / self.target:5.2f} ({shape} {nodes})  "
            f"share {share:.3f}{marks}"
        )


def cells() -> Iterator[Cell]:
    """Yield the grid, without the cells in which very many steps of many requests take an hour to play through."""
    for w, step, row, requests in product(DRAFTS, STEPS, ROWS, REQUESTS):
        if requests * TOKENS / step < MOST_STEPS:
            yield Cell(w, step, row, requests)


def main() -> None:
    """Print a line a cell, those out of bounds marked."""
    with Pool(2) as pool:
        for result in pool.imap(Cell.compared, list(cells())):
            sys.stdout.write(f"{result}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
