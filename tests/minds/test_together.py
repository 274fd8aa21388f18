"""The three minds together, whatever happens in whatever order: every request ends once, with the target's text."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specpipe.words.messages import Ask, Cancel, Failed, Finished, Started
from specpipe.words.sampling import Mode, Shape
from tests.minds.house import CONTEXT, House, ends, reference, text_told, tokens_told
from tests.minds.messages import ask

CLIENTS = (b"ann", b"bob")


def some_ask(rng: random.Random, key: int) -> Ask:
    """Return a request of a random kind and length."""
    length = rng.choice([1, 2, 3, 5, 9, 13, CONTEXT - 2, CONTEXT - 1, CONTEXT])
    modes: list[Mode] = ["pipelined", "pipelined", "sequential", "target"]
    shapes: list[Shape] = ["chain", "tree", "auto"]
    return ask(
        key,
        ids=[rng.randrange(4096) for _ in range(length)],
        mode=rng.choice(modes),
        check=rng.choice(shapes),
        max_tokens=rng.choice([0, 1, 2, 7, 30]),
        nodes=rng.choice([0, 0, 1, 3, 8]),
        stop=rng.choice([(), (), (f"{rng.randrange(10)} t{rng.randrange(1, 10)}",)]),
        stop_tokens=rng.sample(range(4096), rng.choice([0, 0, 60])),
    )


def live(house: House, turns: int) -> None:
    """Take turns, with asks, cancels, deaths and returns in between."""
    rng = house.rng
    for key in range(turns):
        house.turn()
        chance = rng.random()
        if chance < 0.02:
            house.ask(rng.choice(CLIENTS), some_ask(rng, key))
        elif chance < 0.023 and house.asked:
            client, name = rng.choice(sorted(house.asked))
            house.act(house.booking.client_said(client, Cancel(key=name), house.now))
        elif chance < 0.027:
            house.kill(rng.choice(["drafter", "verifier"]))
        elif chance < 0.05:
            if house.drafter is None:
                house.start("drafter")
            elif house.verifier is None:
                house.start("verifier")


def hold(house: House) -> None:
    """Say that every request ended once, and those that finished as the target alone ends them."""
    for (client, key), (number, request) in house.asked.items():
        messages = house.told.get((client, key), [])
        end = ends(messages)
        assert len(end) == 1, f"request {number} ended {len(end)} times"
        assert messages[-1] is end[0], "something came after the end"
        if isinstance(end[0], Finished):
            tokens, text, reason = reference(number, request)
            assert tokens_told(messages) == tokens
            assert text_told(messages) == text
            assert (end[0].finish_reason, end[0].completion_tokens) == (reason, len(tokens))
        elif any(isinstance(message, Started) for message in messages):
            assert tokens_told(messages) == reference(number, request)[0][: len(tokens_told(messages))]
        else:
            assert isinstance(end[0], Failed)
            assert (end[0].kind == "refused") <= (len(request.ids) >= CONTEXT)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    loss=st.sampled_from([0.0, 0.1, 0.5, 0.9]),
    control_loss=st.sampled_from([0.0, 0.0, 0.1, 0.4]),
)
def test_every_request_ends_once_with_the_targets_text(seed: int, loss: float, control_loss: float) -> None:
    """Through loss on all links, repetition, reordering, deaths that may go unheard, returns and cancels."""
    house = House(random.Random(seed), loss=loss, control_loss=control_loss)
    live(house, 1500)
    for role, desk in (("drafter", house.drafter), ("verifier", house.verifier)):
        if desk is None:
            house.start("drafter" if role == "drafter" else "verifier")

    house.settle()

    hold(house)


@pytest.mark.parametrize("seed", range(5))
def test_a_drafter_that_never_comes_back_is_not_needed(seed: int) -> None:
    """Without a drafter every mode is plain decoding."""
    house = House(random.Random(seed))
    house.start("verifier")
    for key in range(4):
        house.ask(b"ann", some_ask(house.rng, key))

    house.settle()

    hold(house)


@pytest.mark.parametrize("seed", range(5))
def test_a_verifier_that_is_gone_for_good_fails_everyone(seed: int) -> None:
    """Nobody waits for ever, neither those that had been asked nor those that ask now."""
    house = House(random.Random(seed))
    house.start("drafter")
    house.start("verifier")
    for key in range(5):
        house.ask(b"ann", ask(key, max_tokens=0))
    for _ in range(300):
        house.turn()
    house.kill("verifier", final=True)
    house.ask(b"bob", ask(9))

    assert not house.booking._entries
    hold(house)


@pytest.mark.parametrize("seed", range(5))
def test_a_client_that_vanishes_frees_its_lanes_for_others(seed: int) -> None:
    """Its requests are closed at both workers, and those who wait are admitted."""
    house = House(random.Random(seed))
    house.start("drafter")
    house.start("verifier")
    for key in range(2):
        house.ask(b"ann", ask(key, max_tokens=0))
    house.ask(b"bob", ask(9))
    for _ in range(60):
        house.turn()
    house.lose(b"ann")

    house.settle()

    assert tokens_told(house.told[b"bob", 9]) == reference(*house.asked[b"bob", 9])[0]
    assert all(not ends(messages) for (client, _), messages in house.told.items() if client == b"ann")
