"""An answer is read to its end, or to what it failed with."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from specpipe.cli.answers import read, read_all
from specpipe.client.answers import Answer
from specpipe.errors import PeerError, SpecpipeError
from specpipe.words.messages import Delta, Failed, Finished, Started, Stats

STARTED = Started(key=1, seed=7, prompt_tokens=3)


def _delta(text: str, *tokens: int) -> Delta:
    log_p = (np.array(tokens) / -8).astype(np.float32)
    return Delta(key=1, text=text, tokens=np.array(tokens, np.int32), log_p=log_p)


def _finished() -> Finished:
    return Finished(
        key=1, finish_reason="length", seed=7, prompt_tokens=3, completion_tokens=3, stats=Stats(tokens_per_second=2.5)
    )


def test_an_answer_is_described_whole() -> None:
    """Text, token ids, seed, usage and statistics are there by their published names."""
    answers: list[Answer] = [STARTED, _delta("Hel", 1, 2), _delta("lo", 3), _finished()]

    described = read(answers, lambda _: None).described()

    assert described | {"stats": None} == {
        "text": "Hello",
        "token_ids": [1, 2, 3],
        "finish_reason": "length",
        "seed": 7,
        "usage": {"prompt_tokens": 3, "completion_tokens": 3},
        "stats": None,
    }
    assert described["stats"]["tokens_per_second"] == 2.5
    assert {
        "tokens_per_second", "passes", "tokens_per_pass", "acceptance_rate", "hit_rate", "overlap",
        "verifier_wait_share", "efficiency", "drafted_tokens", "accepted_tokens", "target_passes_saved",
        "time_to_first_token_s", "draft_step_ms", "target_pass_ms",
    } <= described["stats"].keys()  # fmt: skip


def test_log_probabilities_are_described_if_asked_for() -> None:
    """One entry a token, each with the best at its place."""
    told = Delta(1, "Hel", *map(np.array, ([1, 2], [-0.5, -1.5], [1, 7, 8, 2], [-0.5, -2.0, -0.25, -1.5])))
    described = read([STARTED, told, _finished()], lambda _: None).described(logprobs=True)

    assert described["logprobs"] == [
        {"token_id": 1, "logprob": -0.5, "top": [{"token_id": 1, "logprob": -0.5}, {"token_id": 7, "logprob": -2.0}]},
        {"token_id": 2, "logprob": -1.5, "top": [{"token_id": 8, "logprob": -0.25}, {"token_id": 2, "logprob": -1.5}]},
    ]
    assert "logprobs" not in read([STARTED, told, _finished()], lambda _: None).described()


def test_several_answers_are_read_one_after_the_other() -> None:
    """Each after the prompt, if that is to be echoed, and with a free line between them."""
    seen: list[str] = []
    asked: list[list[Answer]] = [[STARTED, _delta("one", 1), _finished()], [STARTED, _delta("two", 2), _finished()]]
    wholes = read_all(asked, seen.append, "Say ")

    assert "".join(seen) == "Say one\n\nSay two\n"
    assert [(each.text, each.token_ids) for each in wholes] == [("Say one", [1]), ("Say two", [2])]


def test_text_is_passed_on_as_it_comes() -> None:
    """Each piece is handed on before the next is read."""
    seen: list[str] = []

    def answers() -> Iterator[Any]:
        for piece in ("a", "b"):
            yield _delta(piece, 1)
            assert seen[-1] == piece
        yield _finished()

    read(answers(), seen.append)

    assert seen == ["a", "b"]


@pytest.mark.parametrize(("kind", "status"), [("refused", 64), ("busy", 75), ("failed", 70)])
def test_a_failure_is_raised_as_what_it_is(kind: Any, status: int) -> None:
    """The reason is the sentence, and the kind decides on the exit status."""
    with pytest.raises(SpecpipeError, match=r"^why$") as caught:
        read([STARTED, Failed(key=1, kind=kind, reason="why")], lambda _: None)

    assert caught.value.exit_code == status


def test_an_answer_without_an_end_is_an_error() -> None:
    """It is never taken for a whole one."""
    with pytest.raises(PeerError, match="broke off"):
        read([STARTED, _delta("Hel", 1)], lambda _: None)
