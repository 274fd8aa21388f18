"""The search for stop strings agrees with searching the whole text."""

from hypothesis import given
from hypothesis import strategies as st

from specpipe.text.stops import StopSearch

TEXTS = st.text(alphabet="ab", max_size=30)


@given(st.lists(TEXTS, max_size=8), st.lists(st.text(alphabet="ab", min_size=1, max_size=6), max_size=4))
def test_any_cutting_of_the_text_gives_the_same_answer(parts: list[str], stops: list[str]) -> None:
    """Self-overlapping and nested stop strings too are found where they begin earliest."""
    whole = "".join(parts)
    found = [whole.find(stop) for stop in stops if stop in whole]
    search = StopSearch(stops)
    shown = "".join(search.push(part) for part in parts) + search.finish()

    assert shown == whole[: min(found, default=len(whole))]
    assert search.stopped == bool(found)


@given(TEXTS, st.lists(st.text(alphabet="ab", min_size=1, max_size=6), min_size=1, max_size=4))
def test_no_more_is_held_back_than_may_matter(text: str, stops: list[str]) -> None:
    """What is held back begins some stop string, and is shorter than it."""
    search = StopSearch(stops)
    shown = search.push(text)
    held = text[len(shown) :]

    assert search.stopped or any(len(held) < len(stop) and stop.startswith(held) for stop in stops)
