"""Reads one answer to its end, and says what it was."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from specpipe.client.answers import Answer
from specpipe.errors import BusyError, PeerError, RequestError, SpecpipeError, WorkerError
from specpipe.words.messages import Delta, Failed, Finished

_KINDS: dict[str, type[SpecpipeError]] = {"refused": RequestError, "busy": BusyError, "failed": WorkerError}


@dataclass(slots=True)
class Whole:
    """An answer with its end."""

    finished: Finished
    text: str = ""
    token_ids: list[int] = field(default_factory=list)

    def described(self) -> dict[str, Any]:
        """Return what `--json` prints."""
        finished = self.finished
        return {
            "text": self.text,
            "token_ids": self.token_ids,
            "finish_reason": finished.finish_reason,
            "seed": finished.seed,
            "usage": {
                "prompt_tokens": finished.prompt_tokens,
                "completion_tokens": finished.completion_tokens,
            },
            "stats": self.stats(),
        }

    def stats(self) -> dict[str, Any]:
        """Return the statistics by name."""
        return dict(msgspec.to_builtins(self.finished.stats))


def read(answers: Iterable[Answer], on_text: Callable[[str], None]) -> Whole:
    """Read an answer to its end, passing on each piece of text; raise what it failed with."""
    texts: list[str] = []
    token_ids: list[int] = []
    for answer in answers:
        if isinstance(answer, Delta):
            texts.append(answer.text)
            token_ids += answer.tokens.tolist()
            on_text(answer.text)
        elif isinstance(answer, Failed):
            raise _KINDS[answer.kind](answer.reason)
        elif isinstance(answer, Finished):
            return Whole(answer, "".join(texts), token_ids)
    raise PeerError("the answer broke off; try again")
