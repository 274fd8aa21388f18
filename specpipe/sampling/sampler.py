"""The verifier's choice: the target's own token at each checked position, a pure function of logits and spot."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from specpipe.errors import WorkerError
from specpipe.sampling import rejection, warp
from specpipe.sampling.cache import NoiseCache, all_tokens
from specpipe.sampling.columns import Columns
from specpipe.sampling.ranking import first_maximum, require_numbers
from specpipe.sampling.spot import Spot
from specpipe.sampling.warp import Kept


@dataclass(frozen=True, slots=True)
class Choice:
    """The tokens chosen, one a row, and the target's raw log-probability of each, before any processor.

    `top_ids` and `top_log_p` have for each row as many of the raw best tokens as its request wants to be told, best
    first, the lowest of equals first.
    """

    tokens: list[int]
    log_p: list[float]
    top_ids: list[list[int]] = field(default_factory=list)
    top_log_p: list[list[float]] = field(default_factory=list)

    @property
    def tops(self) -> list[tuple[list[int], list[float]]]:
        """Return the best tokens of each row with their log-probabilities."""
        return list(zip(self.top_ids, self.top_log_p, strict=True))


class Sampler:
    """Chooses argmax(log p + g), with the shared noise g of the position; greedy rows without noise.

    Rows of requests that ask for it are judged by the ratio test instead.

    Columns from `vocabulary` on are padding: never chosen, no part of any probability. A row's choice
    depends on nothing but its own logits and spot.
    """

    def __init__(self, vocabulary: int, device: torch.device | str = "cpu", capacity: int = 64) -> None:
        self._vocabulary = vocabulary
        self.columns = Columns(all_tokens(vocabulary, device))
        self.noise = NoiseCache(all_tokens(vocabulary, device), capacity)

    def sample(self, logits: Tensor, spots: Sequence[Spot]) -> Choice:
        """Choose a token for each row of `logits`, float32 [rows, columns]; `spots` [rows].

        Raises `WorkerError` where a row holds NaN or infinity, or has fewer columns than the vocabulary.
        """
        rows = self._without_padding(logits)
        log_p = rows.log_softmax(-1)
        tokens = first_maximum(rows)
        require_numbers(_at(log_p, tokens))
        for row, spot in enumerate(spots):
            if not spot.plain:
                tokens[row] = self._chosen(rows[row], spot)
        tops = [_top(log_p[row], spot.sampling.top_logprobs) for row, spot in enumerate(spots)]
        top_ids, top_log_p = [ids for ids, _ in tops], [values for _, values in tops]
        return Choice(tokens.tolist(), _at(log_p, tokens).tolist(), top_ids, top_log_p)

    def _without_padding(self, logits: Tensor) -> Tensor:
        if logits.shape[1] < self._vocabulary:
            raise WorkerError(
                f"the model has {logits.shape[1]} output columns for a vocabulary of {self._vocabulary} tokens; "
                "use a tokenizer that belongs to it"
            )
        return logits[:, : self._vocabulary]

    def _chosen(self, row: Tensor, spot: Spot) -> Tensor:
        scores = spot.ruled(row)
        if spot.sampling.greedy:
            return first_maximum(scores[None])[0]
        left = warp.kept(scores, spot.sampling)
        return rejection.judge(left, spot, self._vocabulary) if spot.sampling.drawing else self._coupled(left, spot)

    def _coupled(self, left: Kept, spot: Spot) -> Tensor:
        noise = self.noise.at(spot.sampling.seed, spot.position, left.columns)
        best = first_maximum((left.scores + noise)[None])[0]
        return best if left.columns is None else left.columns[best]


def _top(log_p: Tensor, count: int) -> tuple[list[int], list[float]]:
    """Return the `count` best tokens of a row and their log-probabilities; fewer where the row is shorter."""
    if not count:
        return [], []
    best = warp.top_k(log_p, min(count, len(log_p)))
    values, order = log_p[best].sort(descending=True, stable=True)
    return best[order].tolist(), values.tolist()


def _at(log_p: Tensor, tokens: Tensor) -> Tensor:
    return log_p.gather(1, tokens[:, None])[:, 0]
