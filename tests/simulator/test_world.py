"""The minds together, in virtual time: the stream is fixed, whatever the link does, and the overlap is real."""

import random
from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specpipe.simulator.world import Devices, World
from specpipe.words import planted
from specpipe.words import prefix as prefixes
from specpipe.words.messages import Message, Open
from specpipe.words.sampling import Mode, Shape
from tests.minds.requests import opening

W = (0.7, 0.12, 0.05, 0.03)


def truth(request: Open, tokens: int, w: Sequence[float] = W) -> list[int]:
    """Return what the target alone writes."""
    prefix = prefixes.extend(prefixes.origin(request.request), request.prompt.tolist())
    out = []
    for _ in range(tokens):
        out.append(planted.truth(prefix, w))
        prefix = prefixes.child(prefix, out[-1])
    return out


def written(world: World, request: int) -> list[int]:
    """Return what the verdicts of a request say together."""
    return [token for each in world.verdicts if each.request == request for token in each.tokens.tolist()]


def storm(seed: int, drop: float, repeat: float, longest: float) -> Callable[[Message], Sequence[float]]:
    """Return a link that drops, repeats and reorders."""
    rng = random.Random(seed)

    def delays(_: Message) -> Sequence[float]:
        if rng.random() < drop:
            return ()
        return [rng.uniform(0.0, longest) for _ in range(2 if rng.random() < repeat else 1)]

    return delays


@pytest.mark.parametrize("mode", ["pipelined", "sequential", "target"])
@pytest.mark.parametrize("nodes", [0, 1, 3, 8])
@pytest.mark.parametrize("check", ["chain", "tree", "auto"])
def test_every_mode_writes_what_the_target_alone_writes(mode: Mode, nodes: int, check: Shape) -> None:
    """The text does not depend on the mode, on how many nodes are checked, or in which shape."""
    request = opening(max_tokens=150, mode=mode, nodes=nodes, check=check)
    world = World.of(Devices(W))

    world.run(request)

    assert truth(request, 150) == written(world, 1)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    drop=st.floats(0.0, 0.9),
    repeat=st.floats(0.0, 1.0),
    longest=st.floats(0.0, 0.3),
    mode=st.sampled_from(["pipelined", "sequential"]),
    check=st.sampled_from(["chain", "tree"]),
)
def test_a_link_that_loses_repeats_and_reorders_costs_no_token(
    *, seed: int, drop: float, repeat: float, longest: float, mode: Mode, check: Shape
) -> None:
    """Edges and verdicts may be lost, late, repeated or out of order: only time is lost."""
    requests = [opening(number, max_tokens=40, mode=mode, check=check) for number in (1, 2)]
    world = World.of(Devices(W), requests=2, weather=storm(seed, drop, repeat, longest))

    world.run(*requests)

    for request in requests:
        assert truth(request, 40) == written(world, request.request)


def test_nothing_arriving_at_all_leaves_the_targets_own_speed() -> None:
    """A drafter that is never heard of is not waited for."""
    world = World.of(Devices(W), weather=lambda _: ())

    seconds = world.run(opening(max_tokens=100))

    assert seconds < 1.01 * 100 * 0.1


@pytest.mark.parametrize(
    ("w", "least"), [((0.5, 0.15, 0.08, 0.05), 1.6), ((0.7, 0.12, 0.05, 0.03), 2.5), ((0.9, 0.05, 0.02, 0.01), 4.8)]
)
def test_chains_reach_what_an_ideal_pipeline_would(w: Sequence[float], least: float) -> None:
    """At 5 / 100 ms, M = N = 8, virtual time has no noise: about 1.75 / 2.8 / 5.5 is ideal, less 9 %."""
    tokens = 600
    world = World.of(Devices(w))

    seconds = world.run(opening(max_tokens=tokens, nodes=8))

    assert tokens * 0.1 / seconds > least


@pytest.mark.parametrize(
    ("w", "least"), [((0.5, 0.15, 0.08, 0.05), 2.05), ((0.7, 0.12, 0.05, 0.03), 2.9), ((0.9, 0.05, 0.02, 0.01), 5.7)]
)
def test_trees_reach_what_an_ideal_pipeline_would(w: Sequence[float], least: float) -> None:
    """At 5 / 100 ms, M = 8, N = 16, virtual time has no noise: about 2.25 / 3.2 / 6.2 is ideal, less 9 %."""
    tokens = 600
    world = World.of(Devices(w))

    seconds = world.run(opening(max_tokens=tokens, nodes=16, check="tree"))

    assert tokens * 0.1 / seconds > least


@settings(max_examples=8, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    step=st.sampled_from([0.005, 0.05, 0.2]),
    row=st.sampled_from([0.0, 0.0005, 0.005]),
    check=st.sampled_from(["chain", "tree", "auto"]),
)
def test_nobody_waits_longer_than_a_pass_a_chunk_and_a_few_steps_for_the_next_token(
    seed: int, step: float, row: float, check: Shape
) -> None:
    """However many requests come and go, with prompts of many chunks, on links that lose and delay."""
    rng, count = random.Random(seed), 5
    devices = Devices(W, step=step, row=row, chunk=0.03)
    world = World.of(devices, requests=count, prefill_rows=16, weather=storm(seed, 0.1, 0.1, 0.02))
    for number in range(1, count + 1):
        prompt = range(rng.choice([3, 50, 200]))
        world.open_at(
            rng.uniform(0.0, 1.5), opening(number, prompt=prompt, max_tokens=rng.randrange(5, 40), check=check)
        )
    world.run()

    bound = devices.passing + row * (64 + count) + devices.chunk + min(4 * step, 2 * devices.passing) + 0.01
    for number in range(1, count + 1):
        ended = [verdict.ended for verdict in world.verdicts if verdict.request == number]
        assert max((later - earlier for earlier, later in pairwise(ended)), default=0.0) <= bound


def test_sequential_mode_never_overlaps() -> None:
    """In sequential mode the drafter rests while a pass runs, apart from the step in which the verdict finds it."""
    pipelined, sequential = World.of(Devices(W)), World.of(Devices(W))

    pipelined.run(opening(max_tokens=100))
    sequential.run(opening(max_tokens=100, mode="sequential", nodes=5))

    assert sequential.busy < 1.1 * 0.005 * 5 * len(sequential.verdicts)
    assert pipelined.busy > 0.9 * pipelined.now


def test_the_end_is_marked_once_and_exactly() -> None:
    """A stop token ends the text where it stands, also in the middle of an accepted chain."""
    plain = truth(opening(), 60)
    stop = plain[30]
    world = World.of(Devices((1.0,)))
    sure = truth(opening(), 60, (1.0,))
    world.run(opening(max_tokens=60, stop_tokens=[sure[30]]))
    first = sure.index(sure[30])

    assert sure[: first + 1] == written(world, 1)
    assert [each.finish for each in world.verdicts if each.finish] == ["stop"]
    assert stop in plain
