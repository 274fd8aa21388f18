"""The search for stop strings agrees with searching the whole text."""

from hypothesis import given
from hypothesis import strategies as st

from specpipe.text.stops import StopSearch

TEXTS = st.text(alphabet="ab", max_size=30)


def ended(parts: list[str], stops: list[str]) -> tuple[str, int]:
    """Return what a search of the whole text after each part shows, and how many parts it takes."""
    text = ""
    for count, part in enumerate(parts, 1):
        text += part
        found = [text.find(stop) for stop in stops if stop in text]
        if found:
            return text[: min(found)], count
    return text, len(parts)


@given(st.lists(TEXTS, max_size=8), st.lists(st.text(alphabet="ab", min_size=1, max_size=6), max_size=4))
def test_the_search_finds_what_looking_at_the_whole_text_would(parts: list[str], stops: list[str]) -> None:
    """Self-overlapping and nested stop strings too, as soon as the part comes that completes one."""
    search = StopSearch(stops)
    shown, taken = "", 0
    for part in parts:
        if not search.stopped:
            shown += search.push(part)
            taken += 1

    assert (shown + search.finish(), taken) == ended(parts, stops)


@given(TEXTS, st.lists(st.text(alphabet="ab", min_size=1, max_size=6), min_size=1, max_size=4))
def test_no_more_is_held_back_than_may_matter(text: str, stops: list[str]) -> None:
    """What is held back begins some stop string, and is shorter than it."""
    search = StopSearch(stops)
    shown = search.push(text)
    held = text[len(shown) :]

    assert search.stopped or any(len(held) < len(stop) and stop.startswith(held) for stop in stops)
