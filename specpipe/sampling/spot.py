"""Where a token is chosen."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from specpipe.sampling.rules import Rules
from specpipe.words.draw import Draw
from specpipe.words.sampling import Sampling


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in a text: its index in prompt + output, and the request's way of sampling.

    With `rules` it also says what was written before: the `committed` text and the drafted `path` after it.
    `draw` is what was drawn from the draft for this place, where the request judges guesses by the ratio test.
    """

    sampling: Sampling
    position: int
    rules: Rules | None = None
    committed: Sequence[int] = ()
    path: Sequence[int] = ()
    draw: Draw | None = None

    @property
    def plain(self) -> bool:
        """Whether the best of the raw logits is chosen."""
        return self.rules is None and self.sampling.greedy

    def ruled(self, row: Tensor) -> Tensor:
        """Return a row of raw logits after biases, penalties and bans, float32 [columns]; not to be written to."""
        return row if self.rules is None else self.rules.apply(row, self.committed, self.path)
