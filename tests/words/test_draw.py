"""A draw carries what it was drawn from, on the wire too."""

import numpy as np
import pytest

from specpipe.words.draw import Draw
from specpipe.words.messages import Draws
from specpipe.words.messages.codec import Decoder, encode


def draw(token: int, *others: int) -> Draw:
    """Return a draw of `token` from a few equally likely ones."""
    ids = np.array([token, *others], np.int32)
    return Draw(token, ids, np.full(len(ids), -np.log(len(ids)), np.float32))


def sent(*draws: Draw) -> Draws:
    """Send draws after the prefixes 10, 11, ... through the codec."""
    message = Decoder([Draws]).decode(encode(Draws.of(7, list(enumerate(draws, 10)))))
    assert isinstance(message, Draws)
    return message


def test_draws_come_apart_as_they_were_put_together() -> None:
    """Each with its own prefix and its own distribution."""
    apart = list(sent(draw(3, 4, 5), Draw.certain(9), draw(1, 2)).apart())

    assert [(prefix, each.token, each.ids.tolist()) for prefix, each in apart] == [
        (10, 3, [3, 4, 5]),
        (11, 9, [9]),
        (12, 1, [1, 2]),
    ]
    assert apart[0][1].log_q.tolist() == pytest.approx([-np.log(3)] * 3)


@pytest.mark.parametrize(
    "bad",
    [
        Draw(4, np.array([3, 5], np.int32), np.zeros(2, np.float32)),
        Draw(3, np.array([3, 5], np.int32), np.array([-np.inf, 0], np.float32)),
        Draw(3, np.array([], np.int32), np.array([], np.float32)),
    ],
    ids=["not among them", "not a number", "from nothing"],
)
def test_what_cannot_have_been_drawn_is_left_out(bad: Draw) -> None:
    """A foreign drafter's fault costs the test at that place, nothing else."""
    assert [each.token for _, each in sent(bad, draw(1, 2)).apart()] == [1]


def test_counts_beyond_the_arrays_are_no_fault() -> None:
    """What lies past the end is no part of a distribution."""
    message = Draws(
        request=1,
        parents=np.array([1, 2], np.uint64),
        tokens=np.array([5, 6], np.int32),
        counts=np.array([2**31 - 1, 2**31 - 1], np.int32),
        ids=np.array([5], np.int32),
        log_q=np.zeros(1, np.float32),
    )

    assert [each.token for _, each in message.apart()] == [5]


def test_surprise_is_the_log_of_its_chance() -> None:
    """One of four equally likely tokens is a surprise of log 4."""
    assert draw(1, 2, 3, 4).surprise == pytest.approx(np.log(4))
    assert Draw.certain(3).surprise == 0.0
