"""One request as the coordinator sees it."""

import pytest
from msgspec.structs import replace

from specpipe.minds.entry import Entry, written
from specpipe.text.simulated import SimulatedTokenizer
from specpipe.text.stream import TextStream
from specpipe.words.messages import Ask
from specpipe.words.sampling import SEQUENTIAL_NODES, Acceptance, Sampling, Shape
from tests.minds.messages import ask, verdict


def stream(*stops: str) -> TextStream:
    """Return a text whose token 7 reads "t7 "."""
    return TextStream(SimulatedTokenizer(), stops)


def entry(request: Ask | None = None) -> Entry:
    """Return a request that was just asked."""
    return Entry(4, b"ann", request or ask(), [5, 6, 7], seed=11, text=stream())


def test_an_opening_has_the_seed_that_was_drawn_and_what_was_committed() -> None:
    """Prompt and committed tokens apart, in the life that it has now."""
    made = entry()
    made.life = 2
    made.committed = [1, 2]
    opened = made.opening(100, frozenset())

    assert (opened.request, opened.life, opened.sampling.seed) == (4, 2, 11)
    assert opened.prompt.tolist() == [5, 6, 7]
    assert opened.committed.tolist() == [1, 2]
    assert not made.running


@pytest.mark.parametrize(("asked", "most", "budget"), [(0, 30, 30), (20, 30, 20), (40, 30, 30)])
def test_the_budget_is_what_was_asked_and_never_more_than_fits(asked: int, most: int, budget: int) -> None:
    """Nothing asked means up to the context (case B09)."""
    assert entry(ask(max_tokens=asked)).opening(most, frozenset()).ending.max_tokens == budget


@pytest.mark.parametrize(("ignore", "stops"), [(False, (1, 2, 9)), (True, (1, 9))])
def test_the_models_own_end_counts_unless_it_is_ignored(ignore: bool, stops: tuple[int, ...]) -> None:
    """The request's own stop tokens count in any case."""
    made = entry(ask(stop_tokens=[9, 1], ignore_eos=ignore))

    assert made.opening(30, frozenset({2})).ending.stop_tokens == stops


@pytest.mark.parametrize(
    ("request_", "nodes"),
    [
        (ask(), 0),
        (ask(nodes=3), 3),
        (ask(mode="sequential"), SEQUENTIAL_NODES),
        (ask(mode="sequential", nodes=3), 3),
        (ask(mode="target"), 0),
    ],
)
def test_a_sequential_request_has_a_block_length_in_any_case(request_: Ask, nodes: int) -> None:
    """Without one it would wait for nothing; the others are chosen by measurement."""
    assert entry(request_).opening(30, frozenset()).nodes == nodes


@pytest.mark.parametrize(("acceptance", "shape"), [("coupled", "auto"), ("rejection", "chain")])
def test_a_shape_that_is_left_open_is_a_chain_for_the_ratio_test(acceptance: Acceptance, shape: Shape) -> None:
    """The published method is one of chains."""
    asked = replace(ask(check="auto"), sampling=Sampling(acceptance=acceptance))

    assert entry(asked).opening(30, frozenset()).check == shape


def test_news_is_what_a_verdict_adds() -> None:
    """Nothing of an old one, the rest of one that overlaps, and None where something is missing."""
    made = entry()
    made.committed = [1, 2, 3]

    assert made.news(verdict([2, 3], 1)) == []
    assert made.news(verdict([3, 4, 5], 2)) == [4, 5]
    assert made.news(verdict([4], 3)) == [4]
    assert made.news(verdict([9], 4)) is None


def test_text_is_written_up_to_the_token_that_completes_a_stop() -> None:
    """Ids and text are cut together, in the middle of a block (cases A03, A04)."""
    text = stream("3 t4")

    assert written(text, [1, 2]) == ("t1 t2 ", 2)
    assert written(text, [3, 4, 5, 6]) == ("t", 2)
    assert text.stopped
    assert text.finish() == ""


def test_text_that_may_become_a_stop_is_held_back() -> None:
    """Its tokens count all the same."""
    text = stream("3 t4")

    assert written(text, [3]) == ("t", 1)
    assert written(text, [5]) == ("3 t5 ", 1)
