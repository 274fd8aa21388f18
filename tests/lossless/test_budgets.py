"""However the blocks fall, an answer has exactly the tokens that it may have."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from specpipe.client.asking import Options
from specpipe.settings import EngineSettings
from specpipe.words.messages import Failed
from tests.process.instances import Running, pair, running
from tests.reference import Reference

CONTEXT = 64


@pytest.mark.parametrize("which", [0, 1], ids=["noised", "copied"])
def test_every_budget_is_met_to_the_token(noisy: Running, copied: Running, reference: Reference, which: int) -> None:
    """A block that would cross the budget is cut; what is delivered is what usage says (case A23)."""
    instance = (noisy, copied)[which]
    written = reference.greedy([7, 8, 9], 40)
    for budget in range(1, 41):
        told = instance.tell([7, 8, 9], Options(mode="sequential", max_tokens=budget, nodes=8, ignore_eos=True))

        assert told.tokens == written[:budget]
        assert (told.completion_tokens, told.finish_reason) == (budget, "length")


@pytest.mark.parametrize("budget", [8, 64, 256, 257])
def test_short_answers_are_drafted_too(copied: Running, budget: int) -> None:
    """No budget switches speculation off (case C17); a drafter that gets no time is not waited for, so ask again."""
    options = Options(mode="sequential", max_tokens=budget, ignore_eos=True)
    told = (copied.tell([7, 8, 9], options) for _ in range(10))

    assert any(each.stats.accepted_tokens >= budget // 2 and each.stats.passes <= budget // 4 for each in told)


@pytest.fixture(scope="module")
def short(target: Path, noised: Path) -> Iterator[Running]:
    """An instance with room for 64 positions."""
    with running(replace(pair(target, noised), engine=EngineSettings(context=CONTEXT))) as started:
        yield started


@pytest.mark.parametrize("mode", ["pipelined", "sequential", "target"])
@pytest.mark.parametrize(("length", "budget"), [(50, 14), (50, 0), (62, 0), (63, 1), (63, 0), (63, 200)])
def test_the_context_is_filled_to_the_last_position(
    short: Running, reference: Reference, mode: str, length: int, budget: int
) -> None:
    """Drafting ahead needs no room that the answer is then denied (cases B07 and B09)."""
    prompt = [3 + index % 200 for index in range(length)]
    options = Options(mode=mode, nodes=8, max_tokens=budget, ignore_eos=True)  # type: ignore[arg-type]
    told = short.tell(prompt, options)

    assert told.tokens == reference.greedy(prompt, CONTEXT - length)
    assert told.finish_reason == "length"


@pytest.mark.parametrize("length", [CONTEXT, CONTEXT + 1, 100_000, 1_000_000])
def test_a_prompt_without_room_for_an_answer_is_refused(short: Running, reference: Reference, length: int) -> None:
    """In one sentence with both numbers, and the next request is served (cases B09 and E21)."""
    (refused,) = short.start([3] * length, Options(max_tokens=1))

    assert isinstance(refused, Failed)
    assert (refused.kind, refused.reason) == (
        "refused",
        f"the prompt has {length} tokens and must have fewer than the context of {CONTEXT}",
    )
    assert short.tell([3], Options(max_tokens=5)).tokens == reference.greedy([3], 5, {2})


def test_a_text_beyond_the_context_is_refused(short: Running) -> None:
    """Counted in tokens, not characters."""
    (refused,) = short.start("water " * 8000, Options(max_tokens=10))

    assert isinstance(refused, Failed)
    assert refused.kind == "refused"
    assert refused.reason.endswith(f"must have fewer than the context of {CONTEXT}")
