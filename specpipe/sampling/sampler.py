"""The verifier's choice: the target's own token at each checked position, a pure function of logits and spot."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from specpipe.errors import WorkerError
from specpipe.sampling import warp
from specpipe.sampling.cache import NoiseCache, all_tokens
from specpipe.sampling.ranking import first_maximum, require_numbers
from specpipe.words.sampling import Sampling


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a token is chosen: its index in prompt + output, and the request's way of sampling."""

    sampling: Sampling
    position: int


@dataclass(frozen=True, slots=True)
class Choice:
    """The tokens chosen, one a row, and the target's raw log-probability of each, before any processor."""

    tokens: list[int]
    log_p: list[float]


class Sampler:
    """Chooses argmax(log p + g), with the shared noise g of the position; greedy rows without noise.

    Columns from `vocabulary` on are padding: never chosen, no part of any probability. A row's choice
    depends on nothing but its own logits and spot.
    """

    def __init__(self, vocabulary: int, device: torch.device | str = "cpu", capacity: int = 64) -> None:
        self._vocabulary = vocabulary
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
            if not spot.sampling.greedy:
                tokens[row] = self._coupled(rows[row], spot)
        return Choice(tokens.tolist(), _at(log_p, tokens).tolist())

    def _without_padding(self, logits: Tensor) -> Tensor:
        if logits.shape[1] < self._vocabulary:
            raise WorkerError(
                f"the model has {logits.shape[1]} output columns for a vocabulary of {self._vocabulary} tokens; "
                "use a tokenizer that belongs to it"
            )
        return logits[:, : self._vocabulary]

    def _coupled(self, row: Tensor, spot: Spot) -> Tensor:
        left = warp.kept(row, spot.sampling)
        noise = self.noise.at(spot.sampling.seed, spot.position, left.columns)
        best = first_maximum((left.scores + noise)[None])[0]
        return best if left.columns is None else left.columns[best]


def _at(log_p: Tensor, tokens: Tensor) -> Tensor:
    return log_p.gather(1, tokens[:, None])[:, 0]
