"""Text and stop strings: a model that is made to write one text, characters split over tokens, speculated in blocks."""

from collections.abc import Iterator, Sequence
from itertools import permutations

import pytest

from specpipe.client.asking import Options
from specpipe.words.messages import Delta
from specpipe.words.sampling import Mode
from tests.forced import Forced, forced_llama
from tests.lossless.proof import tokenizer_of
from tests.process.instances import Running, pair, running

MODES: tuple[Mode, ...] = ("pipelined", "sequential", "target")
TEXT = "Once there was a fox, 😀 and 日本語, under a 🇩🇪🇯🇵 flag: né, 👩‍👧 went home. The end!"


@pytest.fixture(scope="module")
def forced(tmp_path_factory: pytest.TempPathFactory) -> Forced:
    """The target, with layers enough to be slower than its draft."""
    return forced_llama(tmp_path_factory.mktemp("forced") / "target", TEXT, layers=8)


@pytest.fixture(scope="module")
def instance(forced: Forced) -> Iterator[Running]:
    """An instance whose draft is always right."""
    draft = forced_llama(forced.folder.with_name("draft"), TEXT)
    with running(pair(forced.folder, draft.folder)) as started:
        yield started


@pytest.mark.parametrize("mode", MODES)
def test_characters_split_over_tokens_and_blocks_arrive_whole(instance: Running, forced: Forced, mode: Mode) -> None:
    """Emoji, flags and CJK: the joined pieces are the text, and no piece has half a character (case E01)."""
    options = Options(mode=mode, nodes=5)
    pieces = [each.text for each in instance.start(forced.prompt, options) if isinstance(each, Delta)]
    told = instance.tell(forced.prompt, options)

    assert "".join(pieces) == told.text == TEXT
    assert "\ufffd" not in "".join(pieces)
    assert told.tokens == [*forced.tokens, 2]
    assert told.finish_reason == "stop"
    # How much arrives in time is for the machine to say, except where the verifier waits for it.
    if mode != "pipelined":
        assert (told.stats.accepted_tokens > 0) == (mode == "sequential")


def test_a_budget_that_ends_within_a_character_cuts_that_one_only(instance: Running, forced: Forced) -> None:
    """Wherever the answer ends, its text is what decoding its ids gives (case E01)."""
    decode = tokenizer_of(instance).decode
    for budget in range(1, len(forced.tokens) + 1):
        told = instance.tell(forced.prompt, Options(max_tokens=budget, nodes=8))

        assert told.tokens == forced.tokens[:budget]
        assert told.text == decode(told.tokens)
        assert TEXT.startswith(told.text.rstrip("\ufffd"))


def stopped(instance: Running, tokens: Sequence[int], stops: Sequence[str]) -> tuple[str, list[int]]:
    """Return what a plain loop leaves that looks through the whole text after each token."""
    decode = tokenizer_of(instance).decode
    for count in range(1, len(tokens) + 1):
        text = decode(list(tokens[:count]))
        found = [text.find(stop) for stop in stops if stop in text]
        if found:
            return text[: min(found)], list(tokens[:count])
    return decode(list(tokens)), list(tokens)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("length", [2, 7])
def test_a_stop_string_is_found_wherever_it_lies_in_a_block(
    instance: Running, forced: Forced, mode: Mode, length: int
) -> None:
    """Text and ids end together, at whatever place of a long accepted block (cases A03 and A04)."""
    for start in range(0, len(TEXT) - length, 7):
        stop = TEXT[start : start + length]
        told = instance.tell(forced.prompt, Options(mode=mode, nodes=16, stop=(stop,)))

        assert (told.text, told.tokens) == stopped(instance, forced.tokens, [stop])
        assert (told.finish_reason, told.completion_tokens) == ("stop", len(told.tokens))


STOPS = [
    ("The end", "fox", "went"),
    ("Once there was a fox, 😀 and nothing", "there", "as a"),
    ("日本", "😀 and 日本", "and"),
    ("🇯", "flag", "🇩🇪"),
    ("nowhere", "\0", "!"),
]


@pytest.mark.parametrize("stops", STOPS, ids=lambda stops: stops[1])
def test_the_earliest_stop_counts_in_any_order(instance: Running, forced: Forced, stops: tuple[str, ...]) -> None:
    """Also where one lies within another, or a longer one has only begun: no token comes after the stop."""
    expected = stopped(instance, forced.tokens, stops)
    for order in permutations(stops):
        told = instance.tell(forced.prompt, Options(nodes=16, stop=order))

        assert (told.text, told.tokens) == expected
        assert (told.finish_reason, told.completion_tokens) == ("stop", len(told.tokens))
