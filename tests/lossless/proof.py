"""Whether an answer is the target's own: each token is the best by the reference's logits and the request's noise."""

from collections.abc import Sequence

import torch
from tokenizers import Tokenizer

from specpipe.sampling.noise import gumbel
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
