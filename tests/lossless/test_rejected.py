"""With rejection acceptance the answers of the real processes follow the target's law, token after token."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from specpipe.client.asking import Options
from specpipe.errors import RequestError
from specpipe.words.sampling import Acceptance, Mode, Sampling
from tests import plain
from tests.lossless.proof import ids_of
from tests.process.instances import Running
from tests.reference import Reference

PROMPT = "the first day"
ASKED = Options(max_tokens=500, ignore_eos=True, acceptance="rejection", temperature=1.0)
RANKS = 4


def laws(reference: Reference, prompt: list[int], tokens: list[int], options: Options) -> Tensor:
    """Return the target's probabilities at the place of each token, float64 [tokens, vocabulary]."""
    sampling = Sampling(temperature=options.temperature, top_k=options.top_k, top_p=options.top_p)
    logits = reference.logits([*prompt, *tokens[:-1]])[len(prompt) - 1 :]
    return torch.stack([plain.warped(row, sampling) for row in logits]).double().softmax(-1)


def deviations(laws: Tensor, tokens: list[int]) -> list[float]:
    """Return by how many standard deviations the tokens of each of the best ranks are too many."""
    order = laws.argsort(1, descending=True)[:, :RANKS]
    expected = laws.gather(1, order)
    found = (order == torch.tensor(tokens)[:, None]).double()
    spread = (expected * (1 - expected)).sum(0).sqrt().clamp(min=1e-9)
    return ((found - expected).sum(0) / spread).tolist()


def rate(instance: Running, asked: Options, acceptance: Acceptance) -> float:
    """Return the share of the checked tokens that were accepted over three answers."""
    told = [instance.tell(PROMPT, replace(asked, acceptance=acceptance, seed=seed)).stats for seed in range(3)]
    return sum(each.accepted_tokens for each in told) / sum(each.checked_tokens for each in told)


@pytest.mark.parametrize("mode", ["pipelined", "sequential", "target"])
@pytest.mark.parametrize("tight", [{}, {"top_k": 12}, {"top_p": 0.8, "temperature": 0.7}], ids=str)
def test_tokens_come_as_often_as_the_target_says(
    noisy: Running, reference: Reference, mode: Mode, tight: dict[str, float]
) -> None:
    """Given what stands before, the best, second, ... token is chosen as often as its probability says."""
    options = replace(ASKED, mode=mode, **tight)  # type: ignore[arg-type]
    told = [noisy.tell(PROMPT, replace(options, seed=seed)) for seed in range(3)]
    prompt = ids_of(PROMPT, noisy)
    law = torch.cat([laws(reference, prompt, each.tokens, options) for each in told])
    tokens = [token for each in told for token in each.tokens]

    assert law[range(len(tokens)), tokens].min() > 0
    assert max(map(abs, deviations(law, tokens))) < 4.5


def test_a_copy_of_the_target_is_accepted_wholly(copied: Running) -> None:
    """Where draft and target give the same probabilities, no draw is ever rejected."""
    told = copied.tell(PROMPT, replace(ASKED, top_k=40, mode="sequential", max_tokens=200, seed=4))

    assert told.stats.accepted_tokens == told.stats.checked_tokens > 0


def test_more_draws_stay_than_equal_the_targets_own_picks(noisy: Running) -> None:
    """For a chain no rule accepts more."""
    asked = replace(ASKED, mode="sequential", nodes=1, top_k=60)

    assert rate(noisy, asked, "rejection") > rate(noisy, asked, "coupled") - 0.03


def test_trees_are_refused(noisy: Running) -> None:
    """One sentence says what to do instead."""
    with pytest.raises(RequestError, match="check: trees are not checked by rejection; ask for chain or auto"):
        noisy.tell(PROMPT, replace(ASKED, check="tree"))
