"""The shared noise is uniform, independent in every direction, and the same wherever it is computed."""

import math

import pytest
import torch
from torch import Tensor

from specpipe.sampling.noise import Stream, _gumbel_on_cpu, _hash_anywhere, _hash_on_cpu, _key, gumbel, integers
from specpipe.words.sampling import MAX_SEED
from tests.sampling.chi_square import chance

TOKENS = torch.arange(49152)


def uniforms(seed: int, position: int, tokens: Tensor, stream: Stream = Stream.COUPLED) -> Tensor:
    """Return the integers as numbers in (0, 1)."""
    return (integers(seed, position, tokens, stream).double() + 0.5) / 2**32


def correlation(left: Tensor, right: Tensor) -> float:
    """Return Pearson's correlation of two samples, times the root of their size: about a normal deviate."""
    return float(torch.corrcoef(torch.stack((left, right)))[0, 1]) * math.sqrt(len(left))


def test_integers_never_change() -> None:
    """A seed means the same text for ever, so the integers are pinned."""
    assert integers(0, 0, torch.arange(3)).tolist() == [300275830, 2027914131, 2508541944]
    assert integers(MAX_SEED, 4_000_000, torch.tensor([0, 49151]), Stream.BONUS).tolist() == [2136696138, 2092355103]


@pytest.mark.parametrize("seed", [0, 1, 2**63, MAX_SEED])
@pytest.mark.parametrize("stream", list(Stream))
def test_integers_are_the_same_in_both_arithmetics(seed: int, stream: Stream) -> None:
    """What a GPU computes in masked int64 is what a CPU computes in wrapping uint32."""
    tokens = torch.cat((TOKENS, torch.tensor([2**31 - 1, 2**32 - 1])))
    key = _key(seed, 12345, stream)

    assert torch.equal(_hash_anywhere(tokens, key), torch.from_numpy(_hash_on_cpu(tokens, key).astype("int64")))


def test_some_tokens_have_the_bits_of_all_tokens() -> None:
    """Noise of a few token ids is the same, bit for bit, as in the whole vector, wherever they stand."""
    whole = gumbel(7, 100, TOKENS)
    for count in (1, 2, 3, 7, 8, 15, 50, 1000):
        some = torch.randperm(len(TOKENS), generator=torch.Generator().manual_seed(count))[:count]
        assert torch.equal(gumbel(7, 100, some), whole[some])


def test_integers_are_uniform_in_high_and_low_bits() -> None:
    """The top and the bottom 8 bits fill their 256 values evenly, over tokens and over positions."""
    one_position = integers(3, 17, TOKENS)
    one_token = torch.cat([integers(3, position, torch.tensor([11])) for position in range(20_000)])
    for numbers in (one_position, one_token):
        even = torch.full((256,), len(numbers) / 256)
        assert chance(torch.bincount(numbers >> 24, minlength=256), even) > 1e-3
        assert chance(torch.bincount(numbers & 255, minlength=256), even) > 1e-3


@pytest.mark.parametrize(
    ("seed", "position", "shift", "stream"),
    [(5, 31, 0, Stream.COUPLED), (4, 30, 0, Stream.COUPLED), (4, 31, 1, Stream.COUPLED), (4, 31, 0, Stream.DRAFT)],
    ids=["next seed", "next position", "next token", "other stream"],
)
def test_neighbours_are_not_correlated(seed: int, position: int, shift: int, stream: Stream) -> None:
    """Noise one seed, position, token or purpose further on tells nothing, neither its size nor its extremity."""
    here = uniforms(4, 31, TOKENS)
    there = uniforms(seed, position, TOKENS + shift, stream)

    assert abs(correlation(here, there)) < 4
    assert abs(correlation((here - 0.5) ** 2, (there - 0.5) ** 2)) < 4
    joint = (here * 16).long() * 16 + (there * 16).long()
    assert chance(torch.bincount(joint, minlength=256), torch.full((256,), len(TOKENS) / 256)) > 1e-3


def test_neighbours_are_not_correlated_along_positions() -> None:
    """For one token, the noise of successive positions has no memory at lags 1 to 8."""
    row = torch.cat([uniforms(9, position, torch.tensor([5])) for position in range(20_000)])

    assert all(abs(correlation(row[:-lag], row[lag:])) < 4 for lag in range(1, 9))


def test_every_pair_of_streams_is_apart() -> None:
    """No two purposes share noise at the same seed and position."""
    rows = [uniforms(1, 2, TOKENS, stream) for stream in Stream]

    assert all(abs(correlation(a, b)) < 4 for i, a in enumerate(rows) for b in rows[:i])


def test_gumbel_noise_has_its_mean_and_variance() -> None:
    """The mean is Euler's constant and the variance pi squared over six, to within sampling error."""
    noise = torch.cat([gumbel(seed, 0, TOKENS) for seed in range(8)])

    assert float(noise.mean()) == pytest.approx(0.57722, abs=0.01)
    assert float(noise.var()) == pytest.approx(1.64493, abs=0.03)


def test_gumbel_tails_are_finite() -> None:
    """The smallest and the largest integer give the ends of the range, no infinity and no NaN."""
    extremes = torch.tensor([0, 1, 2**31, 2**32 - 2, 2**32 - 1])
    noise = torch.from_numpy(_gumbel_on_cpu(extremes.numpy().astype("uint32")))

    assert noise.isfinite().all()
    assert noise[0].item() == pytest.approx(22.8738, abs=1e-3)
    assert noise[-1].item() == pytest.approx(-3.1300, abs=1e-3)
    assert torch.equal(noise, noise.sort(descending=True).values)


def test_the_best_of_scores_and_noise_follows_the_softmax() -> None:
    """argmax(log p + g) over positions chooses each of 16 tokens as often as its probability says."""
    scores = torch.linspace(-2, 2, 16, dtype=torch.float64)
    drawn = torch.stack([(scores + gumbel(21, position, torch.arange(16))).argmax() for position in range(20_000)])

    assert chance(torch.bincount(drawn, minlength=16), scores.softmax(0) * len(drawn)) > 1e-3
