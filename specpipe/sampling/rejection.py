"""The ratio test: tokens that follow p although most of them were drawn from q (Leviathan et al.; Chen et al., 2023).

A draw x from q stays with probability min(1, p(x) / q(x)); else a token is drawn from max(0, p - q). Each purpose has
a stream of noise of its own: with noise shared between draw and test the result would not follow p.
All is done in log space and float64.
"""

import numpy as np
import torch
from torch import Tensor

from specpipe.sampling import warp
from specpipe.sampling.noise import Stream, gumbel, integers
from specpipe.sampling.ranking import first_maximum
from specpipe.sampling.spot import Spot
from specpipe.sampling.warp import Kept
from specpipe.words.draw import Draw

# So many tokens of q at most are sent, and so q is cut to them before anything is drawn.
MOST_KEPT = 64


def best(left: Kept) -> Kept:
    """Return the best 64 of what the processors left."""
    return left.only(warp.top_k(left.scores, MOST_KEPT)) if len(left.scores) > MOST_KEPT else left


def draw(left: Kept, token_ids: Tensor, spot: Spot) -> Draw:
    """Draw a token from the distribution that `left` is; `token_ids` int64 [columns] are the tokens of its columns."""
    ids = token_ids if left.columns is None else token_ids[left.columns]
    log_q = left.scores.log_softmax(-1)
    token = ids[_drawn(log_q.double(), ids, spot, Stream.DRAFT)]
    return Draw(int(token), ids.cpu().numpy().astype(np.int32), log_q.cpu().numpy())


def judge(left: Kept, spot: Spot, vocabulary: int) -> Tensor:
    """Return the token at a spot, int64 []: what was drawn there if it stays, else another; without a draw, one of p.

    `left` is the target's distribution over some columns of the `vocabulary`.
    """
    ids = torch.arange(vocabulary, device=left.scores.device) if left.columns is None else left.columns
    log_p = left.scores.double().log_softmax(-1)
    if spot.draw is None:
        return ids[_drawn(log_p, ids, spot, Stream.BONUS)]
    log_q = _spread(spot.draw, vocabulary, ids)
    drawn = ids == spot.draw.token
    if _stays(log_acceptance(log_p, log_q)[drawn], spot):
        return ids[drawn][0]
    return ids[_drawn(log_residual(log_p, log_q), ids, spot, Stream.RESIDUAL)]


def log_acceptance(log_p: Tensor, log_q: Tensor) -> Tensor:
    """Return the log of the probability that each token, once drawn from q, stays; all arguments [tokens]."""
    return (log_p - log_q).clamp(max=0.0)


def log_residual(log_p: Tensor, log_q: Tensor) -> Tensor:
    """Return log max(0, p - q), not normalised, minus infinity where q is not below p; all arguments [tokens]."""
    below = log_q < log_p
    ratio = torch.where(below, log_q - log_p, -1.0)
    return torch.where(below, log_p + torch.log1p(-ratio.exp()), -torch.inf)


def _spread(draw: Draw, vocabulary: int, ids: Tensor) -> Tensor:
    """Return the log q of all of `ids`, float64."""
    known = draw.ids < vocabulary
    log_q = torch.from_numpy(draw.log_q.astype(np.float64)).log_softmax(-1)
    full = torch.full((vocabulary,), -torch.inf, dtype=torch.float64)
    full[torch.from_numpy(draw.ids[known].astype(np.int64))] = log_q[torch.from_numpy(known)]
    return full.to(ids.device)[ids]


def _stays(log_chance: Tensor, spot: Spot) -> bool:
    """Whether the draw passes its test; one that the target cannot choose has no chance."""
    uniform = integers(spot.sampling.seed, spot.position, torch.zeros(1, dtype=torch.int64), Stream.ACCEPT).double()
    return bool((((uniform + 0.5) * 2.0**-32).log() < log_chance.cpu()).any())


def _drawn(log_p: Tensor, ids: Tensor, spot: Spot, stream: Stream) -> Tensor:
    """Return the place of a token drawn by its log-probability, which may lack a constant."""
    return first_maximum((log_p + gumbel(spot.sampling.seed, spot.position, ids, stream))[None])[0]
