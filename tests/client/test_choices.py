"""Several answers are requests that differ in their seeds alone."""

from typing import Any

import pytest

from specpipe.client.asking import Options, ask_text
from specpipe.client.choices import choices
from specpipe.errors import RequestError
from specpipe.words.sampling import choice_seed


def test_the_first_is_the_request_itself() -> None:
    """The others have seeds that follow from its own."""
    ask = ask_text("a", Options(seed=7, temperature=1.0, top_k=3))
    made = choices(ask, 4)

    assert [each.sampling.seed for each in made] == [choice_seed(7, number) for number in range(4)]
    assert made[0].sampling == ask.sampling
    assert all(each.seeded and each.sampling.top_k == 3 and each.text == "a" for each in made)


def test_without_a_seed_one_is_drawn_for_all() -> None:
    """So the first one's, which is reported, gives all of them again; a single request leaves it to the engine."""
    ask = ask_text("a", Options(temperature=1.0))
    made = choices(ask, 3, draw_seed=lambda: 2**64 - 1)

    assert [each.sampling.seed for each in made] == [choice_seed(2**64 - 1, number) for number in range(3)]
    assert all(each.seeded for each in made)
    assert choices(ask, 1) == [ask]
    assert choices(ask, 2)[0].sampling.seed != choices(ask, 2)[0].sampling.seed


@pytest.mark.parametrize("n", [0, -1, 129, 10_000, 10**30, 1.5, "2", True, None])
def test_other_numbers_of_choices_are_refused(n: Any) -> None:
    """Nothing is made ready for ten thousand answers (case F05)."""
    with pytest.raises(RequestError, match=r"^n: expected int"):
        choices(ask_text("a", Options()), n)
