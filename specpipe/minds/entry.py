"""One request as the coordinator sees it: who asked, what was committed, and the text of it so far."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from msgspec.structs import replace

from specpipe.minds.measures import Tally
from specpipe.words.messages import Ask, Delta, Open, Verdict
from specpipe.words.sampling import SEQUENTIAL_NODES, Ending


class Text(Protocol):
    """The text of an answer as it grows (`text.stream.TextStream`)."""

    @property
    def stopped(self) -> bool:
        """Whether a stop string was met; nothing after it belongs to the answer."""
        ...

    def push(self, token: int) -> str:
        """Take the next token; return text that can no longer change."""
        ...

    def finish(self) -> str:
        """Return the rest."""
        ...


class Texts(Protocol):
    """What the coordinator needs of the target's tokenizer."""

    @property
    def stop_tokens(self) -> frozenset[int]:
        """The tokens that end an answer."""
        ...

    def prompt(self, ask: Ask) -> list[int]:
        """Return the prompt's ids; raise `RequestError`."""
        ...

    def text(self, stops: tuple[str, ...]) -> Text:
        """Return a fresh text for one answer; raise `RequestError`."""
        ...


class Entry:
    """The coordinator's state of one request; `drafted` unless the drafter has given it up."""

    def __init__(self, number: int, client: bytes, ask: Ask, prompt: Sequence[int], *, seed: int, text: Text) -> None:
        self.number = number
        self.client = client
        self.ask = ask
        self.prompt = list(prompt)
        self.seed = seed
        self.text = text
        self.life = 0
        self.drafted = True
        self.committed: list[int] = []
        self.tally: Tally | None = None

    @property
    def running(self) -> bool:
        """Whether the workers have it."""
        return self.tally is not None

    def ends(self, stop_tokens: frozenset[int]) -> frozenset[int]:
        """Return the tokens that end it; `stop_tokens` are the model's."""
        return frozenset(self.ask.stop_tokens) | (frozenset() if self.ask.ignore_eos else stop_tokens)

    def opening(self, most: int, stop_tokens: frozenset[int]) -> Open:
        """Return what the workers need to start or resume it, with a budget of at most `most` tokens."""
        ask = self.ask
        nodes = ask.nodes or (SEQUENTIAL_NODES if ask.mode == "sequential" else 0)
        return Open(
            request=self.number,
            life=self.life,
            mode=ask.mode,
            sampling=replace(ask.sampling, seed=self.seed),
            ending=Ending(min(ask.max_tokens or most, most), tuple(sorted(self.ends(stop_tokens)))),
            nodes=nodes,
            check="chain" if ask.sampling.acceptance == "rejection" else ask.check,
            prompt=np.array(self.prompt, np.int32),
            committed=np.array(self.committed, np.int32),
        )

    def news(self, verdict: Verdict) -> list[int] | None:
        """Return what of a verdict is new; None if something is missing before it."""
        known = len(self.committed) - verdict.start
        return None if known < 0 else verdict.tokens[known:].tolist()

    def delta(self, verdict: Verdict, text: str, taken: int) -> Delta:
        """Return what the client gets of a verdict: the `taken` tokens after those committed, and `text`."""
        first = len(self.committed) - verdict.start
        mine = slice(first, first + taken)
        tops = self.ask.sampling.top_logprobs
        best = slice(first * tops, (first + taken) * tops)
        return Delta(
            key=self.ask.key,
            text=text,
            tokens=verdict.tokens[mine],
            log_p=verdict.log_p[mine],
            top_ids=verdict.top_ids[best],
            top_log_p=verdict.top_log_p[best],
        )


def written(text: Text, tokens: Sequence[int]) -> tuple[str, int]:
    """Push tokens until a stop string is met; return the text that is sure now and how many tokens it took."""
    parts = []
    for count, token in enumerate(tokens, 1):
        parts.append(text.push(token))
        if text.stopped:
            return "".join(parts), count
    return "".join(parts), len(tokens)
