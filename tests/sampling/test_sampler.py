"""The verifier's choice follows the target's law, and depends on nothing but its own row and spot."""

import pytest
import torch
from msgspec.structs import replace
from torch import Tensor

from specpipe.errors import WorkerError
from specpipe.sampling.columns import Columns
from specpipe.sampling.rules import Rules
from specpipe.sampling.sampler import Sampler
from specpipe.sampling.spot import Spot
from specpipe.sampling.warp import processed
from specpipe.words.sampling import MAX_SEED, Sampling
from tests.sampling.chi_square import chance

LAWS = [
    Sampling(temperature=1.0),
    Sampling(temperature=0.8, top_k=5),
    Sampling(temperature=1.5, top_p=0.7),
    Sampling(temperature=1.2, top_k=9, top_p=0.8),
    Sampling(temperature=100.0),
    Sampling(temperature=1.5, min_p=0.1),
    Sampling(temperature=1.4, top_k=12, top_p=0.95, min_p=0.02),
]


def logits(rows: int, columns: int, seed: int = 0) -> Tensor:
    """Return random logits, spread as a model's are."""
    return torch.randn(rows, columns, generator=torch.Generator().manual_seed(seed)) * 3


def seeded(sampling: Sampling, seed: int) -> Sampling:
    """Return the same law with another seed."""
    return replace(sampling, seed=seed)


def drawn(sampler: Sampler, row: Tensor, spots: list[Spot]) -> Tensor:
    """Return one token for each spot, all from the same logits, int64 [spots]."""
    return torch.tensor(sampler.sample(row.expand(len(spots), -1), spots).tokens)


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("by", ["seed", "position"])
def test_tokens_follow_the_processed_softmax(law: Sampling, by: str) -> None:
    """Over seeds, and over the positions of one seed, each token is as frequent as its probability says."""
    row, draws = logits(1, 16, seed=5), 5000
    spots = [Spot(seeded(law, i), 3) if by == "seed" else Spot(seeded(law, 3), i) for i in range(draws)]
    counts = torch.bincount(drawn(Sampler(16), row, spots), minlength=16)
    expected = processed(row[0], law).double().softmax(0) * draws

    assert counts[expected == 0].sum() == 0
    assert chance(counts, expected) > 1e-3


def test_pairs_of_tokens_follow_the_product_law() -> None:
    """Two successive tokens of 5,000 seeds fill the 256 pairs as often as independent draws would."""
    row, sampler = logits(1, 16, seed=6) / 3, Sampler(16)
    first, second = (
        drawn(sampler, row, [Spot(Sampling(1.0, seed=seed), position) for seed in range(5000)]) for position in (7, 8)
    )
    chances = row[0].double().softmax(0)

    assert chance(torch.bincount(first * 16 + second, minlength=256), torch.outer(chances, chances).ravel() * 5000) > (
        1e-3
    )


@pytest.mark.parametrize(
    "law",
    [Sampling(1.0, top_k=1), Sampling(1.0, top_p=1e-6), Sampling(1e-300), Sampling(1e-9), Sampling(1.0, min_p=1.0)],
    ids=str,
)
def test_laws_that_leave_one_token_are_greedy(law: Sampling) -> None:
    """With top_k=1, min_p=1, a vanishing top_p or temperature, the choice is the greedy one whatever the seed.

    The first three take the lowest of several best tokens too (case A10).
    """
    rows, sampler = logits(8, 1000), Sampler(1000)
    if law.temperature == 1.0:
        rows[:4, [7, 20, 900]] = 50.0
    spots = [Spot(seeded(law, seed), seed) for seed in range(8)]

    assert sampler.sample(rows, spots).tokens == sampler.sample(rows, [Spot(Sampling(), 0)] * 8).tokens


def ruled(sampling: Sampling, text: list[int], columns: int = 16) -> Spot:
    """Return the spot after a text of which the first token is the prompt and the last was drafted."""
    rules = Rules(sampling, (2,), 1, Columns(torch.arange(columns)))
    return Spot(sampling, len(text), rules, text[:-1], text[-1:])


def mixed_spots() -> list[Spot]:
    """Return spots of every kind, some of one seed and position."""
    return [
        Spot(Sampling(), 0),
        Spot(Sampling(0.8, seed=1), 100),
        Spot(Sampling(0.8, 50, seed=1), 100),
        Spot(Sampling(1.0, 0, 0.9, seed=MAX_SEED), 101),
        Spot(Sampling(1.3, 20, 0.8, seed=2), 4000),
        Spot(Sampling(), 5),
        Spot(Sampling(2.0, seed=3), 100),
        ruled(Sampling(0.9, seed=1, repetition_penalty=1.3, logit_bias=((3, 5.0),), top_logprobs=3), [5, 6, 7, 7]),
        ruled(Sampling(presence_penalty=2.0, frequency_penalty=1.0, bad_words=((7, 8),), top_logprobs=20), [7, 8, 7]),
        ruled(Sampling(1.5, 9, 0.9, seed=4, min_p=0.1, allowed_ids=(1, 2, 3, 15), min_tokens=5), [0]),
    ]


@pytest.mark.parametrize("columns", [16, 1003, 49152])
def test_a_row_does_not_see_its_neighbours(columns: int) -> None:
    """Alone, in a batch, in another order, ahead of time or again: the same tokens and the same bits of log p."""
    rows, spots = logits(10, columns), mixed_spots()
    whole = Sampler(columns).sample(rows, spots)
    order = [3, 0, 6, 8, 1, 5, 9, 2, 7, 4]
    warm = Sampler(columns)
    for spot in spots:
        warm.noise.ahead(spot.sampling.seed, spot.position)

    alone = [Sampler(columns).sample(rows[i : i + 1], spots[i : i + 1]) for i in range(10)]
    assert [choice.tokens[0] for choice in alone] == whole.tokens
    assert [choice.log_p[0] for choice in alone] == whole.log_p
    shuffled = warm.sample(rows[order], [spots[i] for i in order])
    assert shuffled.tokens == [whole.tokens[i] for i in order]
    assert shuffled.log_p == [whole.log_p[i] for i in order]
    assert shuffled.top_ids == [whole.top_ids[i] for i in order]
    assert warm.sample(rows, spots) == whole


def test_the_thread_count_changes_no_bit() -> None:
    """On one thread and on two, tokens and log p are the same."""
    rows, spots, threads = logits(10, 49152), mixed_spots(), torch.get_num_threads()
    try:
        choices = []
        for count in (1, 2):
            torch.set_num_threads(count)
            choices.append(Sampler(49152).sample(rows, spots))
    finally:
        torch.set_num_threads(threads)

    assert choices[0] == choices[1]


def test_log_p_is_of_the_raw_logits() -> None:
    """Log-probabilities come before temperature and processors, within float32 rounding."""
    rows, spots = logits(10, 1003), mixed_spots()
    choice = Sampler(1003).sample(rows, spots)
    exact = rows.double().log_softmax(-1)

    assert choice.log_p == pytest.approx([float(exact[i, token]) for i, token in enumerate(choice.tokens)], abs=1e-5)


def test_the_best_tokens_are_told_of_the_raw_logits() -> None:
    """As many as were asked for, best first, whatever was chosen and however; of equals the lowest first."""
    rows = logits(3, 1003)
    rows[0, [9, 4, 700]] = 60.0
    law = Sampling(2.0, 30, logit_bias=((9, -100.0),), allowed_ids=(1, 2))
    spots = [
        Spot(Sampling(top_logprobs=5), 0),
        Spot(Sampling(1.0), 0),
        ruled(replace(law, top_logprobs=20), [1, 2], 1003),
    ]
    choice = Sampler(1003).sample(rows, spots)
    best = rows.double().log_softmax(-1).sort(dim=-1, descending=True, stable=True)

    assert choice.top_ids == [best.indices[0, :5].tolist(), [], best.indices[2, :20].tolist()]
    assert choice.top_ids[0][:3] == [4, 9, 700]
    assert choice.top_log_p[0] == pytest.approx(best.values[0, :5].tolist(), abs=1e-5)
    assert choice.top_log_p[2] == pytest.approx(best.values[2, :20].tolist(), abs=1e-5)
    assert Sampler(4).sample(logits(1, 4), [Spot(Sampling(top_logprobs=20), 0)]).top_ids[0] != []


def test_equal_scores_give_the_lowest_token() -> None:
    """Greedy ties, minus zero against zero included, go to the lowest id."""
    rows = torch.tensor([[-0.0, 0.0, 0.0], [-1.0, 0.0, -0.0], [-torch.inf, -5.0, -5.0]])

    assert Sampler(3).sample(rows, [Spot(Sampling(), 0)] * 3).tokens == [0, 1, 1]


@pytest.mark.parametrize("law", [Sampling(), Sampling(1.0), Sampling(1.0, 10, 0.9)], ids=str)
@pytest.mark.parametrize("padding", [1e9, torch.nan])
def test_padded_columns_are_never_chosen(law: Sampling, padding: float) -> None:
    """Columns beyond the tokenizer's size take no part, however large or broken their logits are."""
    rows = logits(3, 544)
    rows[:, 500:] = padding
    spots = [Spot(seeded(law, seed), seed) for seed in range(3)]

    assert Sampler(500).sample(rows, spots) == Sampler(500).sample(rows[:, :500].clone(), spots)


@pytest.mark.parametrize("law", [Sampling(), Sampling(1.0), Sampling(1.0, 10), Sampling(1.0, 0, 0.9)], ids=str)
@pytest.mark.parametrize("bad", [[torch.nan], [torch.inf], [torch.inf, torch.inf], [-torch.inf] * 100])
def test_broken_logits_are_a_workers_failure(law: Sampling, bad: list[float]) -> None:
    """NaN, plus infinity, or nothing but minus infinity is never turned into a token."""
    rows = logits(2, 100)
    rows[1, 100 - len(bad) :] = torch.tensor(bad)

    with pytest.raises(WorkerError, match="not finite"):
        Sampler(100).sample(rows, [Spot(law, 0), Spot(law, 1)])


def test_logits_narrower_than_the_vocabulary_are_refused() -> None:
    """A model without a column for each token of its tokenizer cannot be sampled from."""
    with pytest.raises(WorkerError, match="90 output columns"):
        Sampler(100).sample(logits(1, 90), [Spot(Sampling(), 0)])


def test_different_seeds_and_positions_give_different_texts() -> None:
    """No two seeds replay each other's tokens, nor does one seed repeat itself."""
    row, sampler, law = logits(1, 5000) / 3, Sampler(5000), Sampling(1.0)
    texts = [tuple(drawn(sampler, row, [Spot(seeded(law, s), p) for p in range(30)]).tolist()) for s in range(20)]

    assert len(set(texts)) == 20
    assert all(len(set(text)) > 20 for text in texts)
