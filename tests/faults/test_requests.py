"""Requests that nobody could answer are refused by the coordinator too, whoever sent them, and the next one is fine."""

from typing import Any

import numpy as np
import pytest
import zmq

from specpipe.client.asking import Options, ask_ids
from specpipe.words.messages import TO_CLIENT, Failed
from specpipe.words.messages.codec import Decoder
from tests.faults.conftest import Served
from tests.faults.stranger import addresses, asking, connected
from tests.process.instances import gather

VOCABULARY = 512
CONTEXT = 2048


def refusal(served: Served, frames: list[bytes]) -> str:
    """Send a request that no client of ours would send; return why it is refused."""
    with connected(addresses(served.instance)["clients"], zmq.DEALER) as stranger:
        stranger.send_multipart(frames)
        last = Decoder(TO_CLIENT).decode(stranger.recv_multipart())
    assert isinstance(last, Failed)
    assert last.kind == "refused"
    return last.reason


ONE_PROMPT = "the prompt must be chat messages, or a text, or token ids, and not be empty"


@pytest.mark.parametrize(
    ("changes", "ids"),
    [({"text": ""}, []), ({"text": "a"}, [5]), ({"chat": [["user", "a"]]}, []), ({"text": "", "chat": []}, [])],
    ids=["none", "text and ids", "text and chat", "all empty"],
)
def test_anything_but_one_prompt_is_refused(served: Served, changes: dict[str, Any], ids: list[int]) -> None:
    """None of the three kinds, or two of them (case B10)."""
    frames = [asking(**changes)[0], np.array(ids, np.int32).tobytes()]

    assert refusal(served, frames) == ONE_PROMPT
    assert served.is_well(1)


@pytest.mark.parametrize("token", [VOCABULARY, 10**6, 2**31 - 1])
def test_tokens_that_the_target_does_not_have_are_refused(served: Served, token: int) -> None:
    """They are not taken for others; the last that it has is one like others."""
    (refused,) = served.instance.client.ask(ask_ids([5, token], Options(max_tokens=1)))

    assert isinstance(refused, Failed)
    assert refused.kind == "refused"
    assert str(token) in refused.reason
    assert len(gather(served.instance.client.ask(ask_ids([VOCABULARY - 1], Options(max_tokens=1)))).tokens) == 1
    assert served.is_well(1)


def test_stops_beyond_the_vocabulary_are_never_met(served: Served) -> None:
    """The largest that may be named reaches the workers and ends nothing."""
    stops = tuple(range(2**31 - 64, 2**31))
    told = served.instance.tell([5, 6, 7], Options(max_tokens=16, stop_tokens=stops))

    assert told.tokens == served.written[0]


def test_a_nul_is_a_character_like_others(served: Served) -> None:
    """In the prompt and in a stop string (case E06)."""
    told = served.instance.tell("a\0b", Options(max_tokens=8, stop=("\0\0\0\0",), ignore_eos=True))

    assert told.prompt_tokens == 3
    assert len(told.tokens) == 8


def test_a_prompt_almost_as_long_as_the_context_is_answered(served: Served) -> None:
    """Whole, to its regular end (case E21)."""
    told = served.instance.tell([3 + index % 400 for index in range(CONTEXT - 10)], Options(ignore_eos=True))

    assert (len(told.tokens), told.finish_reason) == (10, "length")
    assert served.is_well(1)
