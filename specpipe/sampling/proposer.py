"""The drafter's guesses: what the sampler would choose from the draft's logits, and the runners-up."""

from collections.abc import Sequence

import torch
from torch import Tensor

from specpipe.sampling import rejection, warp
from specpipe.sampling.cache import NoiseCache, all_tokens
from specpipe.sampling.columns import Columns
from specpipe.sampling.noise import Stream, gumbel
from specpipe.sampling.ranking import ranked, require_numbers
from specpipe.sampling.spot import Spot
from specpipe.words.draw import Draw
from specpipe.words.proposals import Proposals


class Proposer:
    """Ranks tokens by log q + g with the noise that the verifier will use; greedy rows without noise.

    Where guesses are judged by the ratio test the first is drawn from q instead, with noise that the verifier uses
    for nothing, and the others are ranked with the noise by which the verifier replaces a draw.

    `token_ids` [columns] is given where the draft's head is a subset of the vocabulary. Ids from
    `vocabulary` on are padding and never proposed; a head may also be narrower than the vocabulary.
    """

    def __init__(
        self, vocabulary: int, token_ids: Tensor | None, device: torch.device | str = "cpu", capacity: int = 64
    ) -> None:
        ids = all_tokens(vocabulary, device) if token_ids is None else token_ids.to(device, torch.int64)
        # Ascending ids make the first of equal columns the lowest token.
        self._columns = ids.argsort()[: int((ids < vocabulary).sum())]
        self._token_ids = ids[self._columns]
        self._prefix = torch.equal(self._columns, torch.arange(len(self._columns), device=device))
        self.columns = Columns(self._token_ids)
        self.noise = NoiseCache(self._token_ids, capacity)

    def propose(self, logits: Tensor, spots: Sequence[Spot], fan: int) -> Proposals:
        """Rank the best `fan` tokens of each row of `logits`, float32 [rows, columns]; `spots` [rows].

        Raises `WorkerError` where a row holds NaN or infinity.
        """
        rows = logits[:, : len(self._columns)] if self._prefix else logits[:, self._columns]
        raw = rows.log_softmax(-1)
        require_numbers(raw[:, 0])
        draws = list(map(self._draw, rows, spots))
        plain = all(spot.plain for spot in spots)
        log_q, scores = (raw, rows) if plain else self._scored(rows, spots, draws)
        columns, values = ranked(scores, max(fan, 2))
        absent = values[:, :fan].isneginf()
        tokens = self._token_ids[columns[:, :fan]].masked_fill_(absent, -1)
        return Proposals(
            tokens.cpu().numpy(),
            log_q.gather(1, columns[:, :fan]).masked_fill_(absent, -torch.inf).cpu().numpy(),
            _gaps(values)[:, :fan].float().cpu().numpy(),
            draws,
        )

    def _scored(self, rows: Tensor, spots: Sequence[Spot], draws: Sequence[Draw | None]) -> tuple[Tensor, Tensor]:
        pairs = [self._row(*each) for each in zip(rows, spots, draws, strict=True)]
        return torch.stack([q for q, _ in pairs]).log_softmax(-1), torch.stack([score for _, score in pairs])

    def _row(self, row: Tensor, spot: Spot, draw: Draw | None) -> tuple[Tensor, Tensor]:
        if draw:
            return self._replacements(row, spot, draw)
        scores = spot.ruled(row)
        if spot.sampling.greedy:
            return scores, scores.double()
        left = warp.processed(scores, spot.sampling)
        return left, left + self.noise.vector(spot.sampling.seed, spot.position)[: len(row)]

    def _draw(self, row: Tensor, spot: Spot) -> Draw | None:
        if not spot.sampling.drawing:
            return None
        left = rejection.best(warp.kept(spot.ruled(row), spot.sampling))
        return rejection.draw(left, self._token_ids, spot)

    def _replacements(self, row: Tensor, spot: Spot, draw: Draw) -> tuple[Tensor, Tensor]:
        """Return log q of what could have been drawn, and the scores by which all but what was drawn are ranked."""
        ids = torch.from_numpy(draw.ids).to(row.device, torch.int64)
        log_q = torch.from_numpy(draw.log_q).to(row.device)
        noise = gumbel(spot.sampling.seed, spot.position, ids, Stream.RESIDUAL)
        places = torch.searchsorted(self._token_ids, ids)
        scores = torch.full_like(row, -torch.inf, dtype=torch.float64)
        scores[places] = (log_q + noise).masked_fill_(ids == draw.token, -torch.inf)
        return torch.full_like(row, -torch.inf).index_copy_(0, places, log_q), scores


def _gaps(values: Tensor) -> Tensor:
    gaps = values[:, :1] - values
    gaps[:, 0] = values[:, 0] - values[:, 1]
    return gaps
