"""Ways through the same texts: one token at a time alone, or in random blocks beside others and wrong guesses."""

from collections.abc import Iterator, Sequence

import numpy as np
import torch

from specpipe.models.seam import Executor
from specpipe.words.batch import Batch

Text = Sequence[int]


def alone(executor: Executor, lane: int, text: Text, prompt: int) -> torch.Tensor:
    """Return the logits after each token of `text` from `prompt` on, decoded one at a time after a prefill."""
    prefill(executor, lane, text[:prompt])
    return torch.cat([executor.decode(chain(lane, place, [text[place]])) for place in range(prompt, len(text))])


def together(
    executor: Executor, texts: Sequence[Text], prompts: Sequence[int], widest: int, seed: int
) -> list[torch.Tensor]:
    """Return the same for several texts, one a lane, in random blocks with wrong tokens behind the right ones."""
    draw = np.random.default_rng(seed)
    for lane, (text, prompt) in enumerate(zip(texts, prompts, strict=True)):
        prefill(executor, lane, text[:prompt])
    places, results = list(prompts), [list[torch.Tensor]() for _ in texts]
    while any(place < len(text) for place, text in zip(places, texts, strict=True)):
        blocks = list(_blocks(draw, texts, places, widest))
        logits = executor.decode(joined([block for _, block, _ in blocks]))
        start = 0
        for lane, block, right in blocks:
            results[lane].append(logits[start : start + right])
            places[lane] += right
            start += len(block)
    return [torch.cat(parts) for parts in results]


def _blocks(
    draw: np.random.Generator, texts: Sequence[Text], places: Sequence[int], widest: int
) -> Iterator[tuple[int, Batch, int]]:
    """Yield (lane, rows, how many of them are right) for a random choice of lanes that are not done."""
    lanes = [lane for lane, text in enumerate(texts) if places[lane] < len(text)]
    for lane in lanes:
        if lane != lanes[0] and draw.random() < 0.4:
            continue
        place = places[lane]
        right = min(int(draw.integers(1, widest + 1)), len(texts[lane]) - place)
        wrong = draw.integers(0, 3, int(draw.integers(0, 4))).tolist()
        yield lane, chain(lane, place, [*texts[lane][place : place + right], *wrong]), right


def prefill(executor: Executor, lane: int, text: Text) -> None:
    """Write a prompt, cut where the model wants it cut."""
    step = executor.facts.prefill_rows
    for start in range(0, len(text), step):
        executor.prefill(chain(lane, start, text[start : start + step]))


def chain(lane: int, start: int, tokens: Text) -> Batch:
    """Return consecutive tokens of a lane; what their prefixes hash to does not matter to a Llama."""
    return Batch.chain(lane, start, list(tokens), [0] * len(tokens))


def joined(parts: Sequence[Batch]) -> Batch:
    """Return one batch of the rows of several lanes."""
    shown = max(part.visible.shape[1] for part in parts)
    return Batch(
        np.concatenate([part.lanes for part in parts]),
        np.concatenate([part.tokens for part in parts]),
        np.concatenate([part.positions for part in parts]),
        np.concatenate([part.slots for part in parts]),
        np.concatenate([np.pad(part.visible, ((0, 0), (0, shown - part.visible.shape[1]))) for part in parts]),
        np.concatenate([part.prefixes for part in parts]),
    )
