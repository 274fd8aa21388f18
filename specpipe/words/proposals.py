"""What a draft says of each row of a step."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from specpipe.words.draw import Draw


@dataclass(frozen=True, slots=True)
class Proposals:
    """Ranked guesses of the token that follows each row, all arrays [rows, fan].

    `tokens` int64. `log_q` float32 is the draft's log-probability after the processors (greedy: of the raw
    logits). `gaps` float32 are score margins in nats, noise included: rank 0 over rank 1, every other rank
    under rank 0. `draws` [rows], or empty, has what was drawn after a row; the ranked are then guesses of what
    replaces it. Where fewer tokens than `fan` remain: token -1, log_q minus infinity, gap infinity.
    """

    tokens: npt.NDArray[np.int64]
    log_q: npt.NDArray[np.float32]
    gaps: npt.NDArray[np.float32]
    draws: list[Draw | None] = field(default_factory=list)
