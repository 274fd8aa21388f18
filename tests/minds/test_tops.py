"""The best tokens at each place go with the committed tokens, from the pass to the client, and no others."""

import numpy as np
from msgspec.structs import replace

from specpipe.minds.booking import Booking
from specpipe.minds.check import Top
from specpipe.minds.work import Pass, Prefill
from specpipe.words.messages import Delta, Open, Recall, Verdict
from specpipe.words.sampling import Sampling
from tests.minds.house import Texts
from tests.minds.messages import ask, hello, verdict
from tests.minds.requests import opening
from tests.minds.test_verifying import chain, mind, target, truth

ANN, VERIFIER = b"ann", b"verifier-1"


def best(row: int) -> Top:
    """Return two tokens that name their row."""
    return (10 * row, 10 * row + 1), (-0.5 * row, -1.0 - row)


def passed(made_for: Open, guesses: list[int]) -> tuple[Verdict, Verdict]:
    """Let a pass check guesses of which the first two are right; return its verdict, and the same repeated."""
    made = mind()
    made.handle(made_for, 1.0)
    made.handle(chain(made_for, guesses, after=made_for.committed.tolist()), 1.0)
    while isinstance(work := made.plan(1.0), Prefill):
        made.settle_prefill(work)
    assert isinstance(work, Pass)
    assert len(work.batch) == 4
    tokens = [target(prefix) for prefix in work.batch.prefixes.tolist()]
    tops = [best(row) if made_for.sampling.top_logprobs else ((), ()) for row in range(len(tokens))]
    (told,) = made.settle(work, tokens, [-0.5] * len(tokens), 1.0, 1.1, tops=tops)
    (again,) = made.handle(Recall(request=made_for.request, start=told.start), 2.0)
    return told, again


def test_a_verdict_has_those_of_its_tokens() -> None:
    """Of a request that was resumed, too; what came before is not repeated."""
    request = replace(opening(nodes=3, committed=[7, 8]), sampling=Sampling(top_logprobs=2))
    right = truth(request, 3)
    told, again = passed(request, [*right[:2], right[2] + 1])

    assert (told.start, told.tokens.tolist()) == (2, right)
    assert told.top_ids.tolist() == [0, 1, 10, 11, 20, 21]
    assert told.top_log_p.tolist() == [0.0, -1.0, -0.5, -2.0, -1.0, -3.0]
    assert again.top_ids.tolist() == told.top_ids.tolist()
    assert again.top_log_p.tolist() == told.top_log_p.tolist()


def test_a_request_that_asks_for_none_has_none() -> None:
    """Whoever else asks in the same pass."""
    request = opening(nodes=3)
    right = truth(request, 3)
    told, again = passed(request, [*right[:2], right[2] + 1])

    assert told.tokens.tolist() == right
    assert [len(each.top_ids) + len(each.top_log_p) for each in (told, again)] == [0, 0]


def judged(tokens: list[int], start: int) -> Verdict:
    """Return a verdict whose tokens, log-probabilities and two best each name one another."""
    numbers = np.array(tokens, np.int32)
    return replace(
        verdict(tokens, start),
        log_p=(-numbers / 4).astype(np.float32),
        top_ids=np.repeat(numbers, 2) * 2,
        top_log_p=np.repeat(-numbers / 8, 2).astype(np.float32),
    )


def test_a_client_gets_those_of_what_is_new_and_before_the_stop_string() -> None:
    """Verdicts that overlap say nothing twice, and nothing is told of what comes after the answer's end (case A04)."""
    booking = Booking(Texts(), 4, draw_seed=lambda: 7)
    booking.worker_said(VERIFIER, hello("verifier"), 1.0)
    asking = replace(ask(stop=("t33",)), sampling=Sampling(top_logprobs=2))
    booking.client_said(ANN, asking, 1.0)

    sent = booking.worker_said(VERIFIER, judged([31, 32], 0), 2.0)
    sent += booking.worker_said(VERIFIER, judged([31, 32, 33, 34, 35], 0), 3.0)
    deltas = [each.message for each in sent if isinstance(each.message, Delta)]
    tokens = [token for each in deltas for token in each.tokens.tolist()]

    assert tokens == [31, 32, 33]
    assert [value for each in deltas for value in each.log_p.tolist()] == [-token / 4 for token in tokens]
    assert [best for each in deltas for best in each.top_ids.tolist()] == [2 * t for t in tokens for _ in range(2)]
    assert [p for each in deltas for p in each.top_log_p.tolist()] == [-t / 8 for t in tokens for _ in range(2)]
