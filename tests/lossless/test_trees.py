"""Trees write the target's own text too, whichever branch is right, alone and beside others."""

import pytest

from specpipe.client.asking import Options
from specpipe.words.sampling import Shape
from tests.lossless.proof import departures
from tests.process.instances import Running, gather
from tests.reference import Reference

PROMPTS = [[3 + (7 * index + length) % 400 for index in range(length)] for length in (1, 17, 130)]
SHAPES: tuple[Shape, ...] = ("tree", "auto")


@pytest.mark.parametrize("temperature", [0.0, 0.9])
@pytest.mark.parametrize("nodes", [0, 1, 3, 16])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_tree_writes_what_the_target_alone_writes(
    noisy: Running, reference: Reference, shape: Shape, nodes: int, temperature: float
) -> None:
    """Of whatever width, with and without noise."""
    options = Options(max_tokens=120, nodes=nodes, check=shape, temperature=temperature, seed=5, ignore_eos=True)
    for prompt in PROMPTS:
        told = noisy.tell(prompt, options)

        assert len(told.tokens) == 120
        assert departures(reference, prompt, told.tokens, temperature=temperature, seed=5) == []


def test_trees_and_chains_side_by_side_do_not_touch_each_other(noisy: Running, reference: Reference) -> None:
    """In one pass, at every width (case A33)."""
    shapes: tuple[Shape, ...] = ("tree", "chain", "auto")
    started = [
        noisy.start(prompt, Options(max_tokens=90, nodes=5 * turn, check=shape, ignore_eos=True))
        for turn in range(2)
        for shape, prompt in zip(shapes, PROMPTS, strict=True)
    ]
    told = [gather(answers) for answers in started]

    for prompt, each in zip(PROMPTS * 2, told, strict=True):
        assert departures(reference, prompt, each.tokens) == []


def test_guesses_beside_the_first_choices_are_accepted(noisy: Running) -> None:
    """A draft that is often wrong at first is often right at second; only a tree gets those in the same pass."""
    options = Options(max_tokens=200, nodes=16, check="tree", ignore_eos=True)

    def accepted_beside() -> bool:
        told = [noisy.tell(prompt, options).stats for prompt in PROMPTS]
        return any(each.accepted_tokens > sum(each.accepted_by_depth) for each in told)

    # A drafter that gets no core for a while is too late with them.
    assert any(accepted_beside() for _ in range(20))
