"""Log-probabilities are those of the raw logits of a plain forward pass, for accepted and corrected tokens alike."""

from typing import Any

import pytest
import torch

from specpipe.client.asking import Options
from specpipe.words.sampling import Mode
from tests.lossless.proof import ids_of
from tests.process.instances import Running, Told
from tests.reference import Reference

MODES: list[Mode] = ["pipelined", "sequential", "target"]
PROMPT = "the people said that"
RULES: dict[str, Any] = {
    "temperature": 1.3, "seed": 5, "top_k": 50, "repetition_penalty": 1.3, "logit_bias": ((40, 6.0),), "min_tokens": 9
}  # fmt: skip


def raw(reference: Reference, prompt: list[int], told: Told) -> torch.Tensor:
    """Return the log-probabilities at each place of an answer, by a plain forward pass, [tokens, vocabulary]."""
    return reference.logits([*prompt, *told.tokens[:-1]])[len(prompt) - 1 :].log_softmax(-1)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("asked", [{}, RULES], ids=["greedy", "ruled"])
@pytest.mark.parametrize("tops", [0, 5, 20])
def test_they_are_the_raw_ones(
    noisy: Running, reference: Reference, mode: Mode, asked: dict[str, Any], tops: int
) -> None:
    """Before temperature and processors, and never 0 where speculation is on (case A19)."""
    options = Options(mode=mode, nodes=5, max_tokens=50, ignore_eos=True, top_logprobs=tops, **asked)
    told = noisy.tell(PROMPT, options)
    expected = raw(reference, ids_of(PROMPT, noisy), told)

    assert [each.token for each in told.logprobs] == told.tokens
    for row, each in zip(expected, told.logprobs, strict=True):
        assert each.log_p == pytest.approx(float(row[each.token]), abs=1e-4)
        assert [value for _, value in each.top] == pytest.approx(row.topk(tops).values.tolist(), abs=1e-4)
        assert [float(row[token]) for token, _ in each.top] == pytest.approx([v for _, v in each.top], abs=1e-4)


@pytest.mark.parametrize("mode", MODES)
def test_none_is_told_of_what_comes_after_a_stop_string(copied: Running, mode: Mode) -> None:
    """Text, ids, counts and log-probabilities end together, wherever in a block (cases A03 and A04)."""
    whole = copied.tell(PROMPT, Options(max_tokens=40, nodes=16, ignore_eos=True))
    pieces = [whole.text[at : at + 3] for at in range(0, 60, 4)]
    stops = [piece for piece in pieces if "\ufffd" not in piece]
    assert len(stops) > 3
    for stop in stops:
        options = Options(mode=mode, nodes=16, max_tokens=40, ignore_eos=True, stop=(stop,), top_logprobs=2)
        told = copied.tell(PROMPT, options)

        assert told.finish_reason == "stop"
        assert told.text == whole.text[: whole.text.index(stop)]
        assert told.tokens == whole.tokens[: len(told.tokens)]
        assert len(told.logprobs) == len(told.tokens) == told.completion_tokens
        assert all(len(each.top) == 2 for each in told.logprobs)


@pytest.mark.parametrize("budget", [1, 2, 7, 8, 9, 40])
def test_there_are_as_many_as_the_budget(noisy: Running, copied: Running, budget: int) -> None:
    """Where a block crosses the budget too (case A23)."""
    for instance in (noisy, copied):
        told = instance.tell(PROMPT, Options(nodes=8, max_tokens=budget, ignore_eos=True, top_logprobs=1))

        assert len(told.logprobs) == told.completion_tokens == budget
