"""The cache holds few vectors and changes no bit."""

import torch

from specpipe.sampling.cache import NoiseCache, all_tokens
from specpipe.sampling.noise import gumbel


def test_vectors_are_the_noise_of_the_columns_tokens() -> None:
    """With a subset head, a column's noise is that of the token it stands for."""
    token_ids = torch.tensor([3, 10, 500])
    cache = NoiseCache(token_ids)

    assert torch.equal(cache.vector(1, 2), gumbel(1, 2, token_ids))


def test_some_columns_have_the_same_bits_held_or_not() -> None:
    """Whether a vector was computed ahead cannot be seen in the noise of some of its columns."""
    columns = torch.tensor([0, 9, 77])
    cold, warm = NoiseCache(all_tokens(100, "cpu")), NoiseCache(all_tokens(100, "cpu"))
    warm.ahead(5, 6)

    assert torch.equal(cold.at(5, 6, columns), warm.at(5, 6, columns))
    assert torch.equal(cold.at(5, 6, None)[columns], warm.at(5, 6, columns))


def test_the_oldest_vector_goes_first() -> None:
    """The cache never holds more than its capacity, and keeps what came last."""
    cache = NoiseCache(all_tokens(10, "cpu"), capacity=2)
    first = cache.vector(0, 1)
    for position in (2, 3):
        cache.ahead(0, position)

    assert len(cache) == 2
    assert cache.vector(0, 1) is not first
    assert torch.equal(cache.vector(0, 1), first)


def test_a_held_vector_is_not_computed_again() -> None:
    """Asking twice gives the very same tensor."""
    cache = NoiseCache(all_tokens(10, "cpu"))

    assert cache.vector(0, 1) is cache.vector(0, 1)
