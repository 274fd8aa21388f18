"""The number of drafted tokens reaches drafter and verifier, and changes no token."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from specpipe.client.asking import Options
from specpipe.words.messages import Delta, Finished
from specpipe.words.sampling import Mode
from tests.lossless.proof import departures, ids_of
from tests.process.instances import Running, pair, running
from tests.reference import Reference

MODES: tuple[Mode, ...] = ("pipelined", "sequential", "target")
REPEATED = "water " * 60
SEQUENTIAL = Options(mode="sequential", max_tokens=61, ignore_eos=True)


@pytest.mark.parametrize("nodes", [1, 3, 7])
def test_a_sequential_block_is_as_long_as_was_asked(copied: Running, nodes: int) -> None:
    """Each pass checks that many guesses, all right here, and fewer only where the answer ends (case C15).

    A drafter that gets no time for a quarter of a second is not waited for, which happens on a busy machine.
    """
    told = copied.tell("old men", replace(SEQUENTIAL, nodes=nodes))
    least = -(-61 // (nodes + 1))
    undrafted = told.stats.passes - told.stats.checked_by_depth[0]

    assert len(told.stats.checked_by_depth) == nodes
    assert least <= told.stats.passes <= least + 3 * undrafted + 1
    assert told.stats.checked_by_depth[0] - told.stats.checked_by_depth[-1] <= 1 + undrafted
    assert undrafted < 5


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


def test_after_a_pause_every_guess_is_right_again(copied: Running, reference: Reference) -> None:
    """A drafter that missed much of an answer catches up on it; what it guesses then fits (case A29)."""
    drafter = psutil.Process(copied.supervisor.pids["drafter"])
    answers = copied.start([7, 8, 9], replace(SEQUENTIAL, max_tokens=400))
    tokens = list[int]()
    for answer in answers:
        before = len(tokens)
        tokens += answer.tokens.tolist() if isinstance(answer, Delta) else []
        for moment, move in ((100, drafter.suspend), (200, drafter.resume)):
            if before < moment <= len(tokens):
                move()

    assert isinstance(answer, Finished)
    assert answer.stats.acceptance_rate == 1.0
    assert answer.stats.accepted_tokens > 100
    assert departures(reference, [7, 8, 9], tokens) == []


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
