"""What a request's processors do to a row of logits, by transformers where it has them: written apart from specpipe."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from transformers.generation import logits_process

from specpipe.words.sampling import Sampling

theirs: Any = logits_process


def ruled(row: Tensor, text: Sequence[int], prompt: int, sampling: Sampling, stops: Sequence[int]) -> Tensor:
    """Return a row after biases, penalties and bans; `text` is prompt and output, `prompt` the prompt's length."""
    row = _run(_biases(sampling), text, row)
    if sampling.repetition_penalty != 1.0:
        row = _run([theirs.RepetitionPenaltyLogitsProcessor(sampling.repetition_penalty)], text, row)
    row = _reduced(row, Counter(text[prompt:]), sampling)
    allowed = _run(_limits(sampling), text, row)
    banned = _run(_bans(sampling, prompt, stops), text, allowed)
    return allowed if bool(banned.isneginf().all()) else banned


def warped(row: Tensor, sampling: Sampling) -> Tensor:
    """Return a row after temperature, top-k, top-p and min-p."""
    chain: list[Any] = [theirs.TemperatureLogitsWarper(sampling.temperature)]
    chain += [theirs.TopKLogitsWarper(sampling.top_k)] if sampling.top_k else []
    chain += [theirs.TopPLogitsWarper(sampling.top_p)] if sampling.top_p < 1.0 else []
    chain += [theirs.MinPLogitsWarper(sampling.min_p)] if sampling.min_p else []
    return _run(chain, [0], row)


def _biases(sampling: Sampling) -> list[Any]:
    return [theirs.SequenceBiasLogitsProcessor({(token,): bias}) for token, bias in sampling.logit_bias]


def _limits(sampling: Sampling) -> list[Any]:
    allowed = list(sampling.allowed_ids)
    return [theirs.PrefixConstrainedLogitsProcessor(lambda _batch, _text: allowed, 1)] if allowed else []


def _bans(sampling: Sampling, prompt: int, stops: Sequence[int]) -> list[Any]:
    chain: list[Any] = []
    if sampling.min_tokens and stops:
        chain.append(theirs.MinNewTokensLengthLogitsProcessor(prompt, sampling.min_tokens, list(stops)))
    if sampling.bad_words:
        chain.append(theirs.NoBadWordsLogitsProcessor([list(word) for word in sampling.bad_words]))
    return chain


def _reduced(row: Tensor, times: Counter[int], sampling: Sampling) -> Tensor:
    scores = row.tolist()
    for token, count in times.items():
        scores[token] -= sampling.frequency_penalty * count + sampling.presence_penalty
    return torch.tensor(scores)


def _run(chain: Sequence[Any], text: Sequence[int], row: Tensor) -> Tensor:
    ids, scores = torch.tensor([list(text)]), row[None].clone()
    for processor in chain:
        scores = processor(ids, scores)
    return scores[0]
