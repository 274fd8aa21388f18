"""What a piece of an answer says of each of its tokens."""

import numpy as np
import pytest

from specpipe.client.logprobs import Logprob, logprobs
from specpipe.words.messages import Delta


def delta(tokens: list[int], tops: int) -> Delta:
    """Return a piece with so many best tokens at each place, numbered through."""
    best = np.arange(len(tokens) * tops)
    log_p = (np.array(tokens) / -4).astype(np.float32)
    return Delta(1, "", np.array(tokens, np.int32), log_p, best.astype(np.int32), (-best / 2).astype(np.float32))


@pytest.mark.parametrize("tops", [0, 1, 3])
def test_each_token_has_its_own_best(tops: int) -> None:
    """One place after the other; none where none were asked for."""
    told = list(logprobs(delta([8, 4], tops)))

    assert [(each.token, each.log_p) for each in told] == [(8, -2.0), (4, -1.0)]
    assert told[1].top == tuple((at, -at / 2) for at in range(tops, 2 * tops))


def test_text_without_tokens_says_nothing() -> None:
    """Such a piece may come at the end."""
    assert list(logprobs(delta([], 3))) == []
    assert list(logprobs(delta([4], 0))) == [Logprob(4, -1.0)]
