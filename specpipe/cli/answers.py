"""Reads answers to their ends, and says what they were."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from specpipe.client.answers import Answer
from specpipe.client.logprobs import Logprob, logprobs
from specpipe.errors import BusyError, PeerError, RequestError, SpecpipeError, WorkerError
from specpipe.words.messages import Delta, Failed, Finished

_KINDS: dict[str, type[SpecpipeError]] = {"refused": RequestError, "busy": BusyError, "failed": WorkerError}


@dataclass(slots=True)
class Whole:
    """An answer with its end."""

    finished: Finished
    text: str = ""
    logprobs: list[Logprob] = field(default_factory=list)

    @property
    def token_ids(self) -> list[int]:
        """The tokens of the answer."""
        return [each.token for each in self.logprobs]

    def described(self, *, logprobs: bool = False) -> dict[str, Any]:
        """Return what `--json` prints, the log-probabilities only if asked for."""
        finished = self.finished
        told = {"logprobs": [_described(each) for each in self.logprobs]} if logprobs else {}
        return {
            "text": self.text,
            "token_ids": self.token_ids,
            **told,
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
    tokens: list[Logprob] = []
    for answer in answers:
        if isinstance(answer, Delta):
            texts.append(answer.text)
            tokens += logprobs(answer)
            on_text(answer.text)
        elif isinstance(answer, Failed):
            raise _KINDS[answer.kind](answer.reason)
        elif isinstance(answer, Finished):
            return Whole(answer, "".join(texts), tokens)
    raise PeerError("the answer broke off; try again")


def read_all(all_answers: Sequence[Iterable[Answer]], on_text: Callable[[str], None], prompt: str = "") -> list[Whole]:
    """Read several answers, each after `prompt`, one after the other; a line ends behind each, with one left free."""
    wholes = []
    for number, answers in enumerate(all_answers):
        on_text("\n" + prompt if number else prompt)
        whole = read(answers, on_text)
        on_text("\n")
        wholes.append(replace(whole, text=prompt + whole.text))
    return wholes


def _described(each: Logprob) -> dict[str, Any]:
    top = [{"token_id": token, "logprob": log_p} for token, log_p in each.top]
    return {"token_id": each.token, "logprob": each.log_p, "top": top}
