"""The number of drafted tokens reaches drafter and verifier, and changes no token."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from specpipe.client.asking import Options
from specpipe.words.sampling import Mode
from tests.lossless.proof import departures, ids_of
from tests.process.instances import Running, pair, running
from tests.reference import Reference

MODES: tuple[Mode, ...] = ("pipelined", "sequential", "target")
REPEATED = "water " * 60
SEQUENTIAL = Options(mode="sequential", max_tokens=61, ignore_eos=True)


@pytest.mark.parametrize("nodes", [1, 3, 7])
def test_a_sequential_block_is_as_long_as_was_asked(copied: Running, nodes: int) -> None:
    """Each pass checks that many guesses, all right here, and fewer only where the answer ends (case C15)."""
    told = copied.tell("old men", replace(SEQUENTIAL, nodes=nodes))
    passes = -(-61 // (nodes + 1))

    assert len(told.stats.checked_by_depth) == nodes
    assert told.stats.passes == passes
    assert set(told.stats.checked_by_depth) <= {passes - 1, passes}


def test_the_usual_block_is_five(copied: Running) -> None:
    """Where the request does not say, as the glossary has it."""
    assert len(copied.tell("old men", SEQUENTIAL).stats.checked_by_depth) == 5


@pytest.mark.parametrize("length", [1, 128, 129, 512, 1500])
def test_a_copy_of_the_target_is_right_at_any_length(copied: Running, length: int) -> None:
    """A guess that is wrong far into a text would betray a wrong position or cache (case C03)."""
    prompt = [3 + (7 * index) % 400 for index in range(length)]
    for temperature in (0.0, 1.0):
        told = copied.tell(prompt, replace(SEQUENTIAL, temperature=temperature))

        assert told.stats.acceptance_rate == 1.0


@pytest.fixture(scope="module")
def looking_up(target: Path, noised: Path) -> Iterator[Running]:
    """An instance whose draft is a model and n-grams of the text so far."""
    with running(pair(target, f"{noised}+ngram")) as started:
        yield started


@pytest.mark.parametrize("nodes", [2, 4, 8])
@pytest.mark.parametrize("which", [0, 1], ids=["model", "model+ngram"])
def test_a_word_repeated_sixty_times_is_continued_as_ever(
    noisy: Running, looking_up: Running, reference: Reference, which: int, nodes: int
) -> None:
    """Equal guesses at many places, from a model and from the text itself (case A32)."""
    instance = (noisy, looking_up)[which]
    for mode in MODES:
        told = instance.tell(REPEATED, Options(mode=mode, nodes=nodes, max_tokens=32, ignore_eos=True))

        assert len(told.tokens) == 32
        assert departures(reference, ids_of(REPEATED, instance), told.tokens) == []
