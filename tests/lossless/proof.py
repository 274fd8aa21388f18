"""Whether an answer is the target's own: each token is the best by the reference's logits and the request's noise."""

from collections.abc import Sequence

import torch
from tokenizers import Tokenizer

from specpipe.sampling.noise import gumbel
from specpipe.words.sampling import Sampling
from tests import plain
from tests.process.instances import Running
from tests.reference import Reference

# Scores nearer than this may be ordered otherwise where arithmetic rounds otherwise.
NEAR = 1e-3


def departures(
    reference: Reference, prompt: Sequence[int], tokens: Sequence[int], *, temperature: float = 0.0, seed: int = 0
) -> list[int]:
    """Return the indices in `tokens` where a plain loop over the reference would have gone on otherwise.

    An answer without any is what the loop writes, since each token is then its choice after those before.
    """
    logits = reference.logits([*prompt, *tokens[:-1]])[len(prompt) - 1 :].double()
    scores = torch.stack([_scores(row, temperature, seed, len(prompt) + at) for at, row in enumerate(logits)])
    chosen = scores.gather(1, torch.tensor(tokens)[:, None])[:, 0]
    return (scores.amax(1) - chosen > NEAR).nonzero()[:, 0].tolist()


def strayed(
    reference: Reference, prompt: Sequence[int], tokens: Sequence[int], sampling: Sampling, stops: Sequence[int] = ()
) -> list[int]:
    """Return the indices in `tokens` where a plain loop with transformers' processors would have gone on otherwise."""
    logits = reference.logits([*prompt, *tokens[:-1]])[len(prompt) - 1 :]
    texts = ([*prompt, *tokens[:at]] for at in range(len(tokens)))
    return [
        at
        for at, (row, text) in enumerate(zip(logits, texts, strict=True))
        if _lacks(_processed(row, text, len(prompt), sampling, stops), tokens[at])
    ]


def _lacks(scores: torch.Tensor, token: int) -> bool:
    return not float(scores.amax() - scores[token]) <= NEAR


def _processed(
    row: torch.Tensor, text: Sequence[int], prompt: int, sampling: Sampling, stops: Sequence[int]
) -> torch.Tensor:
    scores = plain.ruled(row, text, prompt, sampling, stops)
    if sampling.temperature == 0.0:
        return scores
    return plain.warped(scores, sampling) + gumbel(sampling.seed, len(text), torch.arange(len(row)))


def _scores(row: torch.Tensor, temperature: float, seed: int, position: int) -> torch.Tensor:
    if temperature == 0.0:
        return row
    return row / temperature + gumbel(seed, position, torch.arange(len(row)))


def tokenizer_of(instance: Running) -> Tokenizer:
    """Return the target's tokenizer, by the library itself."""
    return Tokenizer.from_file(f"{instance.supervisor.settings.target.name}/tokenizer.json")


def ids_of(prompt: str, instance: Running) -> list[int]:
    """Return a prompt's ids."""
    return list(tokenizer_of(instance).encode(prompt).ids)
