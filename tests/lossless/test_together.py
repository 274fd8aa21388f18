"""Requests that run at once, more of them than there are lanes, each write what they write alone."""

from collections.abc import Sequence

import pytest

from specpipe.client.asking import Options
from tests.process.instances import Running, Told, gather

PROMPTS = [[3 + (7 * index + length) % 400 for index in range(length)] for length in (3, 17, 64, 129, 300, 450)]
GREEDY = [Options(max_tokens=20 + 9 * index, ignore_eos=True) for index in range(6)]
MIXED = [
    Options(max_tokens=40, ignore_eos=True),
    Options(max_tokens=60, temperature=0.9, seed=5, ignore_eos=True),
    Options(max_tokens=50, temperature=1.2, top_k=50, top_p=0.9, seed=2**63, mode="sequential"),
    Options(max_tokens=30, mode="target", ignore_eos=True),
    Options(max_tokens=45, nodes=3, stop=("e",), stop_tokens=(9,)),
    Options(max_tokens=35, mode="sequential", nodes=7, temperature=0.7, seed=0),
]
UNSEEDED = Options(max_tokens=40, temperature=1.0, ignore_eos=True)


def together(instance: Running, asked: Sequence[tuple[list[int], Options]]) -> list[Told]:
    """Ask all at once; read the answers to their ends."""
    started = [instance.start(prompt, options) for prompt, options in asked]
    return [gather(answers) for answers in started]


@pytest.fixture(scope="module")
def alone(noisy: Running) -> dict[tuple[int, Options], list[int]]:
    """What each prompt with each of its options gives by itself."""
    cases = [(number, each[number]) for each in (GREEDY, MIXED) for number in range(6)]
    return {(number, options): noisy.tell(PROMPTS[number], options).tokens for number, options in cases}


@pytest.mark.parametrize("at_once", [1, 4, 6])
@pytest.mark.parametrize("options", [GREEDY, MIXED], ids=["greedy", "mixed"])
def test_each_is_what_it_is_alone(
    noisy: Running, alone: dict[tuple[int, Options], list[int]], options: list[Options], at_once: int
) -> None:
    """Prompts of 3 to 450 tokens, round after round in another order (cases A13 and A33)."""
    for turn in range(4):
        order = [(turn * 5 + step) % 6 for step in range(6)]
        for first in range(0, 6, at_once):
            group = order[first : first + at_once]
            told = together(noisy, [(PROMPTS[number], options[number]) for number in group])

            assert [each.tokens for each in told] == [alone[number, options[number]] for number in group]


def test_unseeded_neighbours_change_nobody(noisy: Running, alone: dict[tuple[int, Options], list[int]]) -> None:
    """A greedy and a seeded request beside three that draw anew and three of other seeds (case A13)."""
    others = [UNSEEDED] * 3 + [Options(max_tokens=40, temperature=1.0, seed=seed) for seed in (1, 2, 3)]
    asked = [(PROMPTS[0], MIXED[0]), (PROMPTS[1], MIXED[1]), *((PROMPTS[2], each) for each in others)]
    told = together(noisy, asked)

    assert [told[number].tokens for number in (0, 1)] == [alone[number, MIXED[number]] for number in (0, 1)]
    assert len({tuple(each.tokens) for each in told[2:]}) == 6
    assert all(len(set(each.tokens)) > 10 for each in told[2:5])


@pytest.mark.parametrize("at_once", [2, 4, 8])
def test_a_copy_of_the_target_is_right_at_any_load(copied: Running, at_once: int) -> None:
    """Not one guess is wrong, or some request saw another's cache (case C02)."""
    options = Options(max_tokens=40, nodes=5, mode="sequential")
    told = together(copied, [(prompt, options) for prompt in (PROMPTS * 2)[:at_once]])

    assert all(each.stats.acceptance_rate == 1.0 for each in told)
    assert all(each.stats.accepted_tokens > 0 for each in told)
    assert {each.finish_reason for each in told} == {"length", "stop"}


def test_two_instances_serve_at_once(noisy: Running, copied: Running) -> None:
    """They share a machine and a user, and nothing else (case D06)."""
    asked = [(prompt, options) for prompt, options in zip(PROMPTS, GREEDY, strict=True)]
    started = [[instance.start(*each) for each in asked] for instance in (noisy, copied)]
    ours, theirs = ([gather(answers).tokens for answers in each] for each in started)

    assert ours == theirs
    assert noisy.supervisor.folder != copied.supervisor.folder
    assert set(noisy.supervisor.pids.values()).isdisjoint(copied.supervisor.pids.values())
