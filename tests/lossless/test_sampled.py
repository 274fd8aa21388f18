"""Sampled answers are the target's own, token for token, by its logits and the noise of their seed."""

from dataclasses import replace

import pytest

from specpipe.client.asking import Options
from specpipe.words.sampling import Mode
from tests.lossless.proof import departures, ids_of
from tests.process.instances import Running
from tests.reference import Reference

PROMPT = "the first day"
LONG = Options(max_tokens=500, nodes=4, ignore_eos=True)


@pytest.mark.parametrize("mode", ["pipelined", "sequential", "target"])
@pytest.mark.parametrize(("temperature", "seed"), [(0.0, 0), (0.8, 3), (1.5, 2**64 - 1)])
def test_a_long_answer_is_the_plain_loops(
    noisy: Running, reference: Reference, mode: Mode, temperature: float, seed: int
) -> None:
    """Blocks accepted in part, hundreds of times over, drop and repeat no token (case A24)."""
    told = noisy.tell(PROMPT, replace(LONG, mode=mode, temperature=temperature, seed=seed))

    assert len(told.tokens) == 500
    assert departures(reference, ids_of(PROMPT, noisy), told.tokens, temperature=temperature, seed=seed) == []


@pytest.mark.parametrize("law", [{"top_k": 1}, {"top_p": 1e-6}, {"min_p": 1.0}, {"temperature": 1e-6}])
def test_laws_that_leave_one_token_are_greedy(noisy: Running, reference: Reference, law: dict[str, float]) -> None:
    """What the request asks of sampling reaches the target whole (case A10)."""
    options = replace(LONG, max_tokens=64, **{"temperature": 1.0, **law})  # type: ignore[arg-type]
    told = noisy.tell(PROMPT, options)

    assert told.tokens == noisy.tell(PROMPT, replace(LONG, max_tokens=64, mode="target")).tokens
    assert departures(reference, ids_of(PROMPT, noisy), told.tokens) == []


@pytest.mark.parametrize("seed", [0, 7, 2**31, 2**63 - 1, 2**63, 2**64 - 1])
def test_every_seed_is_reported_and_repeats(noisy: Running, reference: Reference, seed: int) -> None:
    """Also those that a signed integer could not hold (case E10)."""
    options = Options(max_tokens=20, temperature=1.0, seed=seed, ignore_eos=True)
    told, again = (noisy.tell(PROMPT, options) for _ in range(2))

    assert told.seed == seed
    assert told.tokens == again.tokens
    assert departures(reference, ids_of(PROMPT, noisy), told.tokens, temperature=1.0, seed=seed) == []


def test_without_a_seed_the_answers_differ(noisy: Running, copied: Running) -> None:
    """Each is drawn anew, and another instance does not begin with the same draws (case A12)."""
    options = Options(max_tokens=30, temperature=1.0, ignore_eos=True)
    told = [[instance.tell(PROMPT, options) for _ in range(20)] for instance in (noisy, copied)]
    texts = [{tuple(each.tokens) for each in mine} for mine in told]

    assert [len(mine) for mine in texts] == [20, 20]
    assert not texts[0] & texts[1]
    assert len({each.seed for mine in told for each in mine}) == 40


def test_without_a_seed_the_reported_one_gives_the_same_answer(noisy: Running, reference: Reference) -> None:
    """Nothing random is decided in two places: with the seed it is a plain computation (case A36)."""
    told = noisy.tell(PROMPT, Options(max_tokens=300, temperature=1.0, ignore_eos=True))
    alone = Options(max_tokens=300, temperature=1.0, ignore_eos=True, mode="target", seed=told.seed)

    assert noisy.tell(PROMPT, alone).tokens == told.tokens
    assert departures(reference, ids_of(PROMPT, noisy), told.tokens, temperature=1.0, seed=told.seed) == []
