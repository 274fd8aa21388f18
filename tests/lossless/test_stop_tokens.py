"""A stop token ends the answer wherever in a drafted block it is accepted (case A01)."""

import json
from collections.abc import Iterator

import pytest

from specpipe.client.asking import Options
from specpipe.words.sampling import Mode
from tests.lossless.proof import departures, ids_of
from tests.process.instances import Running, pair, running
from tests.reference import Reference
from tests.tiny import EOS, tiny_llama

PROMPT = "the people said that"
PROMPTS = ("a", "number", "two", PROMPT, "water " * 30, "old men", "one day", "where is it", "some", "x y")
ENDS = list(range(3, 500, 12))
NODES = 8


@pytest.mark.parametrize("mode", ["pipelined", "sequential"])
def test_each_token_of_a_block_can_end_the_answer(copied: Running, reference: Reference, mode: Mode) -> None:
    """In every place of a block of eight, and as the bonus token behind it: nothing comes after the stop."""
    written = reference.greedy(ids_of(PROMPT, copied), NODES + 4)
    firsts = [index for index, token in enumerate(written) if token not in written[:index]]
    assert len(firsts) > NODES

    for index in firsts:
        options = Options(mode=mode, nodes=NODES, max_tokens=60, stop_tokens=(written[index],), ignore_eos=True)
        told = copied.tell(PROMPT, options)

        assert told.tokens == written[: index + 1]
        assert (told.finish_reason, told.completion_tokens) == ("stop", index + 1)


@pytest.fixture(scope="module")
def many_ends(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """An instance whose models name many tokens as their ends, in `generation_config.json`."""
    base = tmp_path_factory.mktemp("ends")
    folders = tiny_llama(base / "target", 1), tiny_llama(base / "draft", 1)
    for folder in folders:
        (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": ENDS}), "utf-8")
    with running(pair(*folders)) as started:
        yield started


@pytest.mark.parametrize("mode", ["pipelined", "sequential", "target"])
def test_the_models_own_ends_are_stop_tokens(many_ends: Running, reference: Reference, mode: Mode) -> None:
    """The answer ends with the first of them."""
    lengths = set()
    for prompt in PROMPTS:
        told = many_ends.tell(prompt, Options(mode=mode, nodes=NODES, max_tokens=40))
        ended = [token in {*ENDS, EOS} for token in told.tokens]

        assert departures(reference, ids_of(prompt, many_ends), told.tokens) == []
        assert not any(ended[:-1])
        assert told.finish_reason == ("stop" if ended[-1] else "length")
        assert ended[-1] or len(told.tokens) == 40
        lengths.add(len(told.tokens))
    assert len(lengths) > 3


def test_ends_may_be_ignored(many_ends: Running, reference: Reference) -> None:
    """Then the answer is as long as its budget."""
    told = many_ends.tell(PROMPT, Options(max_tokens=60, ignore_eos=True))

    assert departures(reference, ids_of(PROMPT, many_ends), told.tokens) == []
    assert (len(told.tokens), told.finish_reason) == (60, "length")
