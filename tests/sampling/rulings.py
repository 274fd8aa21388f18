"""Requests for biases, penalties and bans over a vocabulary of twelve tokens."""

import torch
from hypothesis import strategies as st
from torch import Tensor

from specpipe.words.sampling import Sampling

VOCABULARY = 12
TOKENS = st.integers(0, VOCABULARY - 1)
TEXTS = st.lists(TOKENS, min_size=1, max_size=12)
STOPS = st.lists(TOKENS, max_size=2, unique=True)
ROWS = st.lists(
    st.floats(-20, 20, width=32) | st.sampled_from([0.0, 1.0]), min_size=VOCABULARY, max_size=VOCABULARY
).map(lambda row: torch.tensor(row, dtype=torch.float32))
# However they meet, at least two of the twelve tokens are left.
WORDS = st.lists(st.lists(TOKENS, min_size=1, max_size=3).map(tuple), max_size=4).map(tuple)
ALLOWED = st.just(()) | st.lists(TOKENS, min_size=8, unique=True).map(tuple)


def samplings(**given: st.SearchStrategy[object]) -> st.SearchStrategy[Sampling]:
    """Return a strategy for samplings, with each field left alone at times."""
    fields: dict[str, st.SearchStrategy[object]] = {
        "repetition_penalty": st.just(1.0) | st.floats(0.5, 2.0),
        "presence_penalty": st.just(0.0) | st.floats(-2.0, 2.0),
        "frequency_penalty": st.just(0.0) | st.floats(-2.0, 2.0),
        "logit_bias": st.lists(st.tuples(TOKENS, st.floats(-100.0, 100.0)), max_size=4).map(tuple),
        "min_tokens": st.integers(0, 6),
        "bad_words": WORDS,
        "allowed_ids": ALLOWED,
    }
    return st.builds(Sampling, **(fields | given))


def random_rows(rows: int, seed: int = 0, columns: int = VOCABULARY) -> Tensor:
    """Return random logits."""
    return torch.randn(rows, columns, generator=torch.Generator().manual_seed(seed)) * 3
