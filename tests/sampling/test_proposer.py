"""The drafter's first guess is the sampler's own choice, and its ranks, gaps and log q are what they say."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from specpipe.errors import WorkerError
from specpipe.sampling.noise import gumbel
from specpipe.sampling.proposer import Proposer
from specpipe.sampling.rules import Rules
from specpipe.sampling.sampler import Sampler
from specpipe.sampling.spot import Spot
from specpipe.sampling.warp import processed
from specpipe.words.proposals import Proposals
from specpipe.words.sampling import Sampling
from tests.sampling.rulings import STOPS, TEXTS, VOCABULARY, random_rows, samplings
from tests.sampling.test_sampler import LAWS, logits, seeded

SUBSET = torch.tensor([3, 5, 8, 40, 41, 77, 90, 99], dtype=torch.int32)


def spots_of(law: Sampling, rows: int) -> list[Spot]:
    """Return spots of one law at successive positions."""
    return [Spot(seeded(law, row), 10 + row) for row in range(rows)]


def scores_by_hand(row: Tensor, token_ids: Tensor, spot: Spot) -> Tensor:
    """Return log q + g of each column."""
    if spot.sampling.greedy:
        return row.double().log_softmax(0)
    log_q = processed(row, spot.sampling).double().log_softmax(0)
    return log_q + gumbel(spot.sampling.seed, spot.position, token_ids.long())


@pytest.mark.parametrize("law", [Sampling(), *LAWS, Sampling(1e-9)], ids=str)
def test_a_copy_of_the_target_is_always_accepted(law: Sampling) -> None:
    """From equal logits the first guess is the verifier's choice, at any temperature, in any batch."""
    rows = logits(64, 2003, seed=8)
    spots = spots_of(law, 64)

    assert (
        Proposer(2003, None).propose(rows, spots, 3).tokens[:, 0].tolist() == Sampler(2003).sample(rows, spots).tokens
    )


@given(samplings(temperature=st.sampled_from([0.0, 1.0])), TEXTS, st.lists(TEXTS, min_size=1, max_size=4), STOPS)
def test_rules_are_applied_to_the_drafts_rows_too(
    law: Sampling, prompt: list[int], paths: list[list[int]], stops: list[int]
) -> None:
    """From equal logits the first guess is the verifier's choice under any rules, each on its own path (case A14)."""
    rows = random_rows(len(paths), seed=1)
    proposer, sampler = Proposer(VOCABULARY, None), Sampler(VOCABULARY)
    drafted, checked = (
        [Spot(law, len(prompt) + len(path), rules, prompt, path) for path in paths]
        for rules in (Rules(law, stops, len(prompt), each.columns) for each in (proposer, sampler))
    )

    assert proposer.propose(rows, drafted, 2).tokens[:, 0].tolist() == sampler.sample(rows, checked).tokens


def test_what_is_ruled_out_is_no_guess() -> None:
    """Where fewer tokens than the fan are left, nothing stands in their place."""
    law = Sampling(allowed_ids=(1, 4, 5), bad_words=((4,),))
    proposer = Proposer(VOCABULARY, None)
    spot = Spot(law, 1, Rules(law, (), 1, proposer.columns), [0])
    guesses = proposer.propose(random_rows(1), [spot], 4)

    assert set(guesses.tokens[0, :2].tolist()) == {1, 5}
    assert guesses.tokens[0, 2:].tolist() == [-1, -1]


@pytest.mark.parametrize("law", [Sampling(), *LAWS], ids=str)
@pytest.mark.parametrize("token_ids", [None, SUBSET, SUBSET.flip(0)], ids=["whole", "subset", "unsorted subset"])
def test_ranks_log_q_and_gaps_are_those_of_the_scores(law: Sampling, token_ids: Tensor | None) -> None:
    """Tokens come best score first; log q is of the processed distribution; gaps are differences of scores."""
    ids = torch.arange(100) if token_ids is None else token_ids
    rows = logits(5, len(ids))
    spots = spots_of(law, 5)
    guesses = Proposer(100, token_ids).propose(rows, spots, 4)

    for row, spot in enumerate(spots):
        scores = scores_by_hand(rows[row], ids, spot)
        best = scores.sort(descending=True)
        finite = int(best.values[:4].isfinite().sum())
        expected = (best.values[0] - best.values[:4]).abs()
        expected[0] = best.values[0] - best.values[1]
        assert guesses.tokens[row, :finite].tolist() == ids[best.indices[:finite]].tolist()
        assert guesses.gaps[row] == pytest.approx(expected.numpy(), abs=1e-4)
        log_q = scores if spot.sampling.greedy else processed(rows[row], spot.sampling).double().log_softmax(0)
        assert guesses.log_q[row] == pytest.approx(log_q[best.indices[:4]].numpy(), abs=1e-5)


def test_arrays_have_their_types_and_shapes() -> None:
    """Shapes are [rows, fan], the types those that the wire will carry."""
    guesses = Proposer(100, SUBSET).propose(logits(3, 8), spots_of(LAWS[0], 3), 2)

    assert [a.shape for a in (guesses.tokens, guesses.log_q, guesses.gaps)] == [(3, 2)] * 3
    assert [a.dtype for a in (guesses.tokens, guesses.log_q, guesses.gaps)] == [np.int64, np.float32, np.float32]


@pytest.mark.parametrize("law", [Sampling(1.0, top_k=2), Sampling(1.0, top_p=1e-6), Sampling(1.0, 2, 0.999)], ids=str)
def test_what_the_processors_removed_is_absent(law: Sampling) -> None:
    """Fewer tokens than the fan: the rest is -1, without probability, infinitely far behind."""
    row = torch.tensor([[0.0, 1.0, 3.0, 2.9]])
    guesses = Proposer(4, None).propose(row, [Spot(law, 4)], 4)
    left = int(processed(row[0], law).isfinite().sum())

    assert set(guesses.tokens[0, :left].tolist()) == {2, 3} if left == 2 else {2}
    assert guesses.tokens[0, left:].tolist() == [-1] * (4 - left)
    assert np.isneginf(guesses.log_q[0, left:]).all()
    assert np.isposinf(guesses.gaps[0, left:]).all()
    assert np.isposinf(guesses.gaps[0, 0]) == (left == 1)


def test_a_fan_wider_than_the_head_is_filled_with_absent_tokens() -> None:
    """Three columns give three guesses and no more."""
    assert Proposer(3, None).propose(logits(1, 3), spots_of(Sampling(), 1), 5).tokens[0, 3:].tolist() == [-1, -1]


@pytest.mark.parametrize("token_ids", [None, torch.tensor([510, 1, 0, 505, 2])], ids=["whole", "subset"])
@pytest.mark.parametrize("law", [Sampling(), Sampling(1.0)], ids=str)
def test_padding_is_never_proposed(token_ids: Tensor | None, law: Sampling) -> None:
    """Ids from the tokenizer's size on stay out, however large their logits."""
    columns = 512 if token_ids is None else 5
    rows = logits(4, columns)
    rows[:, (torch.arange(512) if token_ids is None else token_ids) >= 500] = 1e9
    tokens = Proposer(500, token_ids).propose(rows, spots_of(law, 4), 4).tokens

    assert tokens.max() < 500


@pytest.mark.parametrize("law", [Sampling(), Sampling(1.0), Sampling(1.0, 5)], ids=str)
def test_a_head_narrower_than_the_vocabulary_never_proposes_the_rest(law: Sampling) -> None:
    """A draft that lacks the last tokens guesses among those that it has, with the same noise."""
    rows = logits(4, 90)
    narrow = Proposer(100, None).propose(rows, spots_of(law, 4), 4)

    assert narrow.tokens.tolist() == Proposer(100, torch.arange(90)).propose(rows, spots_of(law, 4), 4).tokens.tolist()


def test_equal_scores_go_to_the_lowest_token_first() -> None:
    """In an unsorted subset too, ties are ordered by token id and not by column."""
    rows = torch.zeros(1, 8)

    assert Proposer(100, SUBSET.flip(0)).propose(rows, spots_of(Sampling(), 1), 3).tokens.tolist() == [[3, 5, 8]]


def test_a_row_does_not_see_its_neighbours() -> None:
    """Greedy and sampled rows mix in a batch and give what each gives alone."""
    rows = logits(4, 8)
    spots = [
        Spot(Sampling(), 3),
        Spot(Sampling(0.8, seed=1), 3),
        Spot(Sampling(1.0, 3, seed=2), 4),
        Spot(Sampling(), 9),
    ]
    together = Proposer(100, SUBSET).propose(rows, spots, 3)

    for i, spot in enumerate(spots):
        alone = Proposer(100, SUBSET).propose(rows[i : i + 1], [spot], 3)
        assert together.tokens[i].tolist() == alone.tokens[0].tolist()
        assert together.log_q[i].tolist() == alone.log_q[0].tolist()
        assert together.gaps[i] == pytest.approx(alone.gaps[0], abs=1e-6)


@pytest.mark.parametrize("law", [Sampling(), Sampling(1.0), Sampling(1.0, 3), Sampling(1.0, 0, 0.9)], ids=str)
@pytest.mark.parametrize("bad", [torch.nan, torch.inf])
def test_broken_logits_are_a_workers_failure(law: Sampling, bad: float) -> None:
    """A draft that computes no numbers is not allowed to guess."""
    rows = logits(2, 8)
    rows[1, 2] = bad

    with pytest.raises(WorkerError, match="not finite"):
        Proposer(100, SUBSET).propose(rows, spots_of(law, 2), 2)


def test_the_logits_are_not_written_to() -> None:
    """The model's output stays as it was."""
    rows = logits(2, 8)
    before = rows.clone()
    for law in (Sampling(), LAWS[3]):
        proposals: Proposals = Proposer(8, None).propose(rows, spots_of(law, 2), 4)
        assert proposals.tokens.shape == (2, 4)

    assert torch.equal(rows, before)
