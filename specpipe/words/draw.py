"""A token that was drawn at random from the draft's distribution."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True, eq=False)
class Draw:
    """A token with exactly the distribution that it was drawn from, as the ratio test needs it.

    `ids` int32 [kept] are all tokens that could have been drawn, `log_q` float32 [kept] their log-probabilities but
    for a constant: both sides normalise them in the same way.
    """

    token: int
    ids: npt.NDArray[np.int32]
    log_q: npt.NDArray[np.float32]

    @classmethod
    def certain(cls, token: int) -> Self:
        """Return the draw of a token that was the only one."""
        return cls(token, np.array([token], np.int32), np.zeros(1, np.float32))

    @property
    def surprise(self) -> float:
        """How unlikely it was, in nats."""
        return -float(self.log_q[self.ids == self.token][0])

    @property
    def sound(self) -> bool:
        """Whether it can have been drawn from what it says; it always can, unless a foreign drafter sent it."""
        return bool((self.ids == self.token).any() and np.isfinite(self.log_q).all())
