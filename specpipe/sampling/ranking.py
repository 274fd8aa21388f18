"""Which score is best, the lowest column first where scores are equal (-0.0 equals 0.0).

On a CPU numpy searches and sorts in a tenth of torch's time; the results are the same.
"""

import numpy as np
import torch
from torch import Tensor

from specpipe.errors import WorkerError


def first_maximum(scores: Tensor) -> Tensor:
    """Return the first column of each row's best score, int64 [rows], of `scores` [rows, columns].

    Both libraries promise the first of several maxima.
    """
    if scores.device.type == "cpu":
        return torch.from_numpy(scores.numpy().argmax(-1))
    return scores.argmax(-1)


def ranked(scores: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Return columns and values of the `count` best scores of each row, both [rows, count], best first.

    Where fewer scores are finite, the values of the rest are minus infinity.
    """
    left = scores.clone()
    columns, values = [], []
    for _ in range(count):
        best = first_maximum(left)[:, None]
        columns.append(best)
        values.append(left.gather(1, best))
        left.scatter_(1, best, -torch.inf)
    return torch.cat(columns, 1), torch.cat(values, 1)


def at_least(scores: Tensor, edge: Tensor) -> Tensor:
    """Return the columns of a row whose scores are not below `edge`, int64, ascending."""
    if scores.device.type == "cpu":
        return torch.from_numpy(np.flatnonzero(scores.numpy() >= edge.numpy()))
    return (scores >= edge).nonzero()[:, 0]


def falling(scores: Tensor) -> Tensor:
    """Return the scores of a row, best first."""
    if scores.device.type == "cpu":
        return torch.from_numpy(np.sort(scores.numpy())[::-1].copy())
    return scores.sort(descending=True).values


def require_numbers(log_probabilities: Tensor) -> None:
    """Raise `WorkerError` if any is NaN: one NaN or infinite logit makes its whole row's log-softmax so."""
    if bool(log_probabilities.isnan().any()):
        raise WorkerError("the model gave logits that are not finite numbers; try --dtype float32 or other weights")
