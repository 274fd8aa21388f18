"""The ratio test: whatever is drawn from whichever q, what stays or replaces it follows the target's law."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from torch import Tensor

from specpipe.sampling.proposer import Proposer
from specpipe.sampling.rejection import MOST_KEPT, log_acceptance, log_residual
from specpipe.sampling.sampler import Sampler
from specpipe.sampling.spot import Spot
from specpipe.sampling.warp import processed
from specpipe.words.draw import Draw
from specpipe.words.sampling import Sampling
from tests.sampling.chi_square import chance

LAW = Sampling(temperature=1.0, acceptance="rejection")
SAMPLES = 100_000
TARGET, DRAFT = torch.tensor([[0.3, 1.0, -1.0, 0.0, -0.4]]), torch.tensor([[1.0, 0.2, -0.5, -2.0, 0.1]])
SHARES = st.floats(0.0, 1.0).map(lambda share: 0.0 if share < 1e-6 else share)


def shares(weights: list[float]) -> Tensor:
    """Return weights as probabilities."""
    total = torch.tensor(weights, dtype=torch.float64)
    return total / total.sum()


def law(p: Tensor, q: Tensor) -> Tensor:
    """Return the exact distribution of what the ratio test leaves, summed over all that can be drawn."""
    stays = q * log_acceptance(p.log(), q.log()).exp().nan_to_num(0.0)
    rest = log_residual(p.log(), q.log()).exp()
    return stays + (1 - stays.sum()) * (rest / rest.sum() if rest.sum() > 0 else p)


@pytest.mark.parametrize("p", [0.0, 0.1, 0.5, 0.77, 1.0])
@pytest.mark.parametrize("q", [0.0, 0.2, 0.5, 0.9, 1.0])
def test_two_tokens_enumerated_give_the_targets_law(p: float, q: float) -> None:
    """Both draws, each kept or replaced, add up to the target's probabilities."""
    target = torch.tensor([p, 1 - p], dtype=torch.float64)

    assert torch.allclose(law(target, torch.tensor([q, 1 - q], dtype=torch.float64)), target, atol=1e-12)


@given(
    p=st.lists(SHARES, min_size=6, max_size=6).filter(lambda weights: sum(weights) > 0).map(shares),
    q=st.lists(SHARES, min_size=6, max_size=6).filter(lambda weights: sum(weights) > 0).map(shares),
)
def test_any_draft_enumerated_gives_the_targets_law(p: Tensor, q: Tensor) -> None:
    """Also where draft or target give a token no chance at all."""
    assert torch.allclose(law(p, q), p, atol=1e-9)


def test_judging_only_some_draws_is_caught_by_enumeration() -> None:
    """With p = q = (.5, .5), a test for the first token alone gives that token 3/4: the fault to be immune to."""
    p = torch.tensor([0.5, 0.5], dtype=torch.float64)
    biased = 0.5 * torch.tensor([1.0, 0.0]) + 0.5 * p

    assert biased.tolist() == [0.75, 0.25]
    assert not torch.allclose(biased, p)


@pytest.fixture(scope="module")
def draws() -> list[Draw]:
    """Return 100,000 draws of the draft."""
    spots = [Spot(replace(LAW, seed=seed), 3) for seed in range(SAMPLES)]
    made = Proposer(5, None).propose(DRAFT.expand(SAMPLES, -1), spots, 2).draws
    return [draw for draw in made if draw]


def judged(draws: list[Draw], *, only: int | None = None) -> Tensor:
    """Return the target's token after each draw, int64 [draws]; with `only` no other token is judged."""
    spots = [
        Spot(replace(LAW, seed=seed), 3, draw=draw if only in {None, draw.token} else None)
        for seed, draw in enumerate(draws)
    ]
    return torch.tensor(Sampler(5).sample(TARGET.expand(len(spots), -1), spots).tokens)


def fits(tokens: Tensor, probabilities: Tensor) -> float:
    """Return the p-value of tokens against a law that need not be normalised."""
    expected = probabilities / probabilities.sum() * len(tokens)
    return chance(torch.bincount(tokens, minlength=5), expected)


def test_a_hundred_thousand_samples_follow_the_law_on_every_path(draws: list[Draw]) -> None:
    """All together the target's; the draws the draft's; those that stayed min(p, q); those that came instead p - q."""
    p, q = TARGET[0].double().softmax(0), DRAFT[0].double().softmax(0)
    drawn, tokens = torch.tensor([draw.token for draw in draws]), judged(draws)
    stayed = tokens == drawn

    assert len(draws) == SAMPLES
    assert fits(drawn, q) > 1e-3
    assert fits(tokens, p) > 1e-3
    assert fits(tokens[stayed], torch.minimum(p, q)) > 1e-3
    assert fits(tokens[~stayed], (p - q).clamp(min=0)) > 1e-3
    assert float(stayed.double().mean()) == pytest.approx(float(torch.minimum(p, q).sum()), abs=0.006)


def test_a_rule_that_judges_by_what_was_drawn_is_caught(draws: list[Draw]) -> None:
    """The same test on the same samples finds a depth that is chosen by the drawn token."""
    assert fits(judged(draws[:10_000], only=0), TARGET[0].double().softmax(0)) < 1e-9


def test_without_a_draw_the_target_is_sampled() -> None:
    """What follows the last draw, and a request without a drafter, has the target's law too."""
    spots = [Spot(replace(LAW, seed=seed), 4) for seed in range(10_000)]
    tokens = torch.tensor(Sampler(5).sample(TARGET.expand(len(spots), -1), spots).tokens)

    assert fits(tokens, TARGET[0].double().softmax(0)) > 1e-3


@pytest.mark.parametrize("tight", [{"top_k": 3}, {"top_p": 0.7}, {"min_p": 0.4}, {"temperature": 0.5}])
def test_processors_shape_both_sides(tight: dict[str, float]) -> None:
    """Nothing is drawn or chosen that they remove, and the law is that of the target after them."""
    sampling = replace(LAW, **tight)
    spots = [Spot(replace(sampling, seed=seed), 3) for seed in range(5000)]
    made = Proposer(5, None).propose(DRAFT.expand(len(spots), -1), spots, 2).draws
    with_draws = [Spot(spot.sampling, 3, draw=draw) for spot, draw in zip(spots, made, strict=True)]
    tokens = torch.tensor(Sampler(5).sample(TARGET.expand(len(spots), -1), with_draws).tokens)

    assert fits(torch.tensor([draw.token for draw in made if draw]), processed(DRAFT[0], sampling).softmax(0)) > 1e-3
    assert fits(tokens, processed(TARGET[0], sampling).double().softmax(0)) > 1e-3


def test_a_wide_draft_is_cut_before_anything_is_drawn() -> None:
    """What is sent is what was drawn from: 64 tokens at most, the drawn one among them."""
    row = torch.randn(1, 500, generator=torch.Generator().manual_seed(1))
    made = Proposer(500, None).propose(row.expand(300, -1), [Spot(replace(LAW, seed=i), 0) for i in range(300)], 4)

    for draw in filter(None, made.draws):
        assert len(draw.ids) == MOST_KEPT
        assert draw.sound
        assert float(np.exp(draw.log_q.astype(np.float64)).sum()) == pytest.approx(1.0, abs=1e-5)


def test_replacements_are_guessed_beside_the_draw() -> None:
    """The ranked tokens are others than the drawn one; what comes instead is among them more often than by chance."""
    spots = [Spot(replace(LAW, seed=seed), 3) for seed in range(2000)]
    made = Proposer(5, None).propose(DRAFT.expand(len(spots), -1), spots, 3)
    placed = [Spot(spot.sampling, 3, draw=draw) for spot, draw in zip(spots, made.draws, strict=True)]
    tokens = Sampler(5).sample(TARGET.expand(len(spots), -1), placed).tokens
    missed = [row for row, draw in enumerate(made.draws) if draw and draw.token != tokens[row]]

    assert all(draw and draw.token not in row for draw, row in zip(made.draws, made.tokens.tolist(), strict=True))
    assert sum(tokens[row] in made.tokens[row][:2] for row in missed) > 0.6 * len(missed)


def test_a_draw_that_the_target_cannot_choose_is_replaced() -> None:
    """A token beyond its vocabulary, or one that the processors removed, has no chance of staying."""
    laws = [replace(LAW, seed=seed, top_k=2) for seed in range(200)]
    spots = [Spot(law, 3, draw=Draw.certain(token)) for law in laws for token in (2, 9)]

    assert set(Sampler(5).sample(TARGET.expand(len(spots), -1), spots).tokens) == {0, 1}


def test_greedy_requests_draw_nothing() -> None:
    """Without chance both rules are the same: the best token, with guesses ranked as ever."""
    spots = [Spot(Sampling(acceptance="rejection"), 3)]

    assert Proposer(5, None).propose(DRAFT, spots, 2).draws == [None]
    assert Sampler(5).sample(TARGET, spots).tokens == [1]
