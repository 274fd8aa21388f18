"""A target that gives no numbers for one token: whoever asks about that one is told, and nobody else notices."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

from specpipe.client.asking import Options
from specpipe.supervisor.policy import Role
from specpipe.words.messages import Failed
from tests.process.instances import Running, gather, pair, running
from tests.reference import Reference
from tests.tiny import tiny_llama

POISON = 77
OPTIONS = Options(max_tokens=60, ignore_eos=True)
PROMPTS = [[5, 6, 7], [30] * 20, list(range(90, 130))]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A target whose embedding of one token is not a number; nothing else leads to that token."""
    folder = tiny_llama(tmp_path_factory.mktemp("broken") / "target", 1)
    tensors = load_file(folder / "model.safetensors")
    tensors["lm_head.weight"][POISON] = 0.0
    tensors["model.embed_tokens.weight"][POISON] = float("nan")
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    return folder


@pytest.fixture(scope="module")
def instance(folder: Path) -> Iterator[Running]:
    """An instance of it, whose draft is broken in the same way."""
    with running(pair(folder, folder)) as started:
        yield started


@pytest.fixture(scope="module", autouse=True)
def first(instance: Running) -> dict[Role, int]:
    """The processes as they were before anything went wrong."""
    return dict(instance.supervisor.pids)


@pytest.fixture(scope="module")
def written(folder: Path) -> list[list[int]]:
    """What a plain loop writes after the prompts that are well."""
    reference = Reference(folder)
    return [reference.greedy(prompt, 60) for prompt in PROMPTS]


@pytest.mark.parametrize("prompt", [[POISON], [5, POISON, 6], [POISON] * 200])
def test_the_request_fails_in_one_plain_sentence(instance: Running, prompt: list[int]) -> None:
    """Without a word of the inside; that is in the log (case F11)."""
    *_, last = instance.start(prompt, OPTIONS)

    assert isinstance(last, Failed)
    assert (last.kind, last.reason) == ("failed", "the engine could not go on with this request; its log says why")


def test_the_next_requests_are_right(instance: Running, written: list[list[int]]) -> None:
    """In every lane that the broken one may have left something in."""
    for _ in range(2):
        for _ in range(4):
            *_, last = instance.start([POISON, 5, 6], OPTIONS)
            assert isinstance(last, Failed)
        started = [instance.start(prompt, OPTIONS) for prompt in (*PROMPTS, PROMPTS[0])]

        assert [gather(each).tokens for each in started] == [*written, written[0]]


def test_neighbours_are_not_taken_along(instance: Running, written: list[list[int]]) -> None:
    """Others in the same pass go on."""
    for _ in range(3):
        well = [instance.start(prompt, OPTIONS) for prompt in PROMPTS]
        broken = instance.start([POISON, 5, 6], OPTIONS)

        assert [gather(each).tokens for each in well] == written
        assert isinstance(list(broken)[-1], Failed)
    assert instance.client.status().open_requests == 0


def test_drafting_goes_on_for_the_others(instance: Running, written: list[list[int]], first: dict[Role, int]) -> None:
    """In the drafter too only the broken request is given up; the process is the same as at the start."""
    for prompt, tokens in zip(PROMPTS, written, strict=True):
        told = instance.tell(prompt, replace(OPTIONS, mode="sequential"))

        assert told.tokens == tokens
        assert told.stats.acceptance_rate == 1.0
        assert told.stats.accepted_tokens > 0
    assert instance.supervisor.pids == first
    assert all(worker.ready for worker in instance.client.status().workers)
