"""Requests for the minds, without a model."""

from collections.abc import Sequence

import numpy as np

from specpipe.words.messages import Open
from specpipe.words.sampling import Ending, Mode, Sampling, Shape


def opening(
    request: int = 1,
    *,
    max_tokens: int = 100,
    mode: Mode = "pipelined",
    nodes: int = 0,
    check: Shape = "chain",
    life: int = 0,
    prompt: Sequence[int] = (5, 6, 7),
    committed: Sequence[int] = (),
    stop_tokens: Sequence[int] = (),
) -> Open:
    """Return an opened request."""
    return Open(
        request=request,
        life=life,
        mode=mode,
        sampling=Sampling(),
        ending=Ending(max_tokens=max_tokens, stop_tokens=tuple(stop_tokens)),
        nodes=nodes,
        check=check,
        prompt=np.array(prompt, np.int32),
        committed=np.array(committed, np.int32),
    )
