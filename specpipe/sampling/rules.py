"""What a request asks of its tokens beside temperature, top-k, top-p and min-p: biases, then penalties, then bans."""

from collections.abc import Sequence
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor

from specpipe.sampling.bans import Bans
from specpipe.sampling.columns import Columns
from specpipe.sampling.penalties import Penalties
from specpipe.words.messages import Open
from specpipe.words.sampling import Sampling


class Rules:
    """The rules of one request, made ready for the head of one model; `stops` are the tokens that end it."""

    def __init__(self, sampling: Sampling, stops: Sequence[int], prompt: int, columns: Columns) -> None:
        self._bias = _Bias(sampling, columns) if sampling.logit_bias else None
        self._penalties = Penalties(sampling, prompt, columns) if sampling.penalised else None
        banning = sampling.min_tokens or sampling.bad_words or sampling.allowed_ids
        self._bans = Bans(sampling, stops, prompt, columns) if banning else None

    def apply(self, row: Tensor, committed: Sequence[int], path: Sequence[int]) -> Tensor:
        """Return the scores of a row of raw logits, float32 [columns], at least one above minus infinity.

        `committed` is the text of the request, prompt and output, `path` the drafted tokens after it that the row
        continues.
        """
        if self._bias:
            row = self._bias.apply(row)
        if self._penalties:
            row = self._penalties.apply(row, committed, path)
        return self._bans.apply(row, committed, path) if self._bans else row


class RuleBook:
    """The rules of the requests that a worker has open, each made when first asked for and dropped with its `owner`.

    An owner is whatever the worker holds for as long as the request is open, and not longer.
    """

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._rules: WeakKeyDictionary[object, Rules] = WeakKeyDictionary()

    def __len__(self) -> int:
        return len(self._rules)

    def of(self, owner: object, request: Open) -> Rules | None:
        """Return the rules of a request, or None if it asks for none."""
        if not request.sampling.ruled:
            return None
        rules = self._rules.get(owner)
        if rules is None:
            rules = Rules(request.sampling, request.ending.stop_tokens, len(request.prompt), self._columns)
            self._rules[owner] = rules
        return rules


class _Bias:
    """Numbers that are added to the scores of some tokens."""

    def __init__(self, sampling: Sampling, columns: Columns) -> None:
        sums: dict[int, float] = {}
        for token, bias in sampling.logit_bias:
            sums[token] = sums.get(token, 0.0) + bias
        known = {token: bias for token, bias in sums.items() if len(columns.find((token,)))}
        self._at = columns.index(columns.find(known))
        self._biases = torch.from_numpy(np.array(list(known.values()), np.float32)).to(columns.device)

    def apply(self, row: Tensor) -> Tensor:
        return row.index_add(0, self._at, self._biases)
