"""The rows of a drafter step: everything on the way that is not cached, parents first, each seeing its own text."""

import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specpipe.minds.calibration import Calibration
from specpipe.minds.draft import Draft
from specpipe.minds.stepping import Step, Stepper, without_model
from specpipe.words.trie import Node
from tests.minds.house import text
from tests.minds.requests import opening
from tests.minds.slab import Slab

KIND = Calibration().kind("model", False, 0, 1.0)


def draft(prompt: Sequence[int] = (5, 6, 7), request: int = 1, lane: int = 0) -> Draft:
    """Return a draft."""
    return Draft(opening(request, prompt=prompt), lane, 200, 1000)


def run(slab: Slab, step: Step) -> list[tuple[int, ...]]:
    """Write a step to the slab; return the text of each row."""
    texts = [text(row) for row in step.rows]
    slab.run(step.batch, texts)
    assert step.batch.prefixes.tolist() == [row.prefix for row in step.rows]
    return texts


def popped(made: Draft) -> Node:
    """Take the best candidate, which must be there."""
    node = made.pop()
    assert node is not None
    return node


def test_a_short_prompt_is_fed_with_its_root_in_one_step() -> None:
    """What is not cached comes along, and the root's children are wanted."""
    made = draft()
    step = Stepper(4).step([(made, popped(made))])

    assert run(Slab(), step) == [(5,), (5, 6), (5, 6, 7)]
    assert [row.node for row in step.rows] == [None, None, made.trie.root]
    assert made.cached == 3


@pytest.mark.parametrize("length", [9, 10, 12, 13, 30, 31])
def test_a_long_prompt_is_cut_at_multiples_of_the_chunk(length: int) -> None:
    """All but the last few tokens are prefilled, and the root never is."""
    made, slab, stepper = draft(range(length)), Slab(), Stepper(4)
    starts = []
    while step := stepper.prefill(made):
        assert step.prefill
        starts.append(len(run(slab, step)[0]) - 1)
    run(slab, stepper.step([(made, popped(made))]))

    assert starts == list(range(0, length - 9, 4))
    assert made.cached == length


def test_a_prompt_for_which_there_are_no_slots_is_not_prefilled() -> None:
    """Nothing breaks; the request is simply not drafted."""
    assert Stepper(4).prefill(draft(range(250))) is None


def test_a_correction_that_nobody_drafted_is_fed_as_the_root() -> None:
    """The accepted tokens are in the slab already, in the slots of their branch."""
    made, slab, stepper = draft(), Slab(), Stepper(4)
    run(slab, stepper.step([(made, popped(made))]))
    made.guess(made.trie.root, 8, 0.0, KIND)
    run(slab, stepper.step([(made, popped(made))]))
    made.commit([8, 9])

    assert run(slab, stepper.step([(made, popped(made))])) == [(5, 6, 7, 8, 9)]


def test_a_node_below_nodes_that_were_never_run_brings_them_along() -> None:
    """A branch opened by an n-gram: its ancestors come first, once, and count as expanded."""
    made, slab, stepper = draft(), Slab(), Stepper(4)
    root = popped(made)
    node: Node | None = root
    chain = []
    for token in (8, 9, 10):
        assert node is not None
        node = made.follow(node, token, KIND)
        assert node is not None
        chain.append(node)

    texts = run(slab, stepper.step([(made, chain[2]), (made, chain[1]), (made, root)]))

    assert texts == [(5,), (5, 6), (5, 6, 7), (5, 6, 7, 8), (5, 6, 7, 8, 9), (5, 6, 7, 8, 9, 10)]
    assert {node.prefix for node in [root, *chain]} == made.expanded


def test_rows_of_one_request_are_neighbours() -> None:
    """However the chosen nodes alternate between requests."""
    first, second = draft(), draft((1, 2), request=2, lane=1)
    stepper, slab = Stepper(4), Slab()
    run(slab, stepper.step([(first, popped(first)), (second, popped(second))]))
    for made in (first, second):
        for token in (1, 2):
            made.guess(made.trie.root, token, 0.0, KIND)
    chosen = [(made, popped(made)) for _ in range(2) for made in (first, second)]
    step = stepper.step(chosen)
    run(slab, step)

    assert step.batch.lanes.tolist() == [0, 0, 1, 1]


def test_without_a_model_there_is_no_batch() -> None:
    """N-grams need no slots, so a text of any length can be drafted."""
    made = draft(range(1000))
    step = without_model([(made, popped(made))])

    assert [row.node for row in step.rows] == [made.trie.root]
    assert len(step.batch) == 0
    assert made.slots == {}


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32), prompt=st.integers(1, 20))
def test_every_row_sees_its_own_text_and_nothing_else(seed: int, prompt: int) -> None:
    """Random trees, verdicts that follow them or not, several nodes a step: the slab always holds what is shown."""
    rng = random.Random(seed)
    drafts = [draft(range(prompt)), draft((3, 4), request=2, lane=1)]
    stepper, slab = Stepper(4), Slab()
    for _ in range(25):
        made = rng.choice(drafts)
        if rng.random() < 0.3:
            made.commit([rng.randrange(3) for _ in range(rng.randrange(1, 4))])
        prefill = next(filter(None, map(stepper.prefill, drafts)), None)
        if prefill:
            run(slab, prefill)
            continue
        chosen = [(each, node) for each in drafts for node in _some(each, rng)]
        if chosen:
            step = stepper.step(chosen)
            run(slab, step)
            _guess(step, rng)


def _some(made: Draft, rng: random.Random) -> list[Node]:
    taken = [made.pop() for _ in range(rng.randrange(4)) if made.peek() > -100]
    return [node for node in taken if node is not None]


def _guess(step: Step, rng: random.Random) -> None:
    for row in step.rows:
        if row.node is not None and not row.draft.guesses.get(row.prefix):
            for token in rng.sample(range(3), rng.randrange(3)):
                row.draft.guess(row.node, token, 0.0, KIND)
        if row.node is not None and rng.random() < 0.2:
            row.draft.follow(row.node, rng.randrange(3), KIND)
