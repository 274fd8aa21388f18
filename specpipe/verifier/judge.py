"""The target model at work: from the rows of a pass to the token that it writes after each."""

import torch

from specpipe.minds.work import Move, Pass, Prefill
from specpipe.models.seam import Executor
from specpipe.sampling.rules import RuleBook
from specpipe.sampling.sampler import Choice, Sampler
from specpipe.sampling.spot import Spot


class Judge:
    """Runs passes on a model. Every column of its head may be chosen, also one that the tokenizer has no text for."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._sampler = Sampler(executor.facts.vocabulary, executor.facts.device)
        self._rules = RuleBook(self._sampler.columns)

    def read(self, work: Prefill) -> None:
        """Run tokens that are known already."""
        with torch.inference_mode():
            if work.wide:
                self._executor.prefill(work.batch)
            else:
                self._executor.decode(work.batch)

    @property
    def busy_until(self) -> float:
        """The moment at which the device is done with the pass."""
        return self._executor.busy_until

    def move(self, move: Move) -> None:
        """Copy keys and values within a lane."""
        self._executor.move(move.lane, move.sources, move.targets)

    def mend(self, lane: int) -> None:
        """Clear a lane of what is no number."""
        self._executor.mend(lane)

    def judge(self, work: Pass) -> Choice:
        """Run a pass; return the target's own token after each row."""
        with torch.inference_mode():
            logits = self._executor.decode(work.batch)
            return self._sampler.sample(logits, self._spots(work))

    def _spots(self, work: Pass) -> list[Spot]:
        """Say where the rows are; what was written before only where a request's rules ask for it."""
        checks, positions = work.checks, (work.batch.positions + 1).tolist()
        rules = [self._rules.of(check, check.request) for check in checks]
        paths = work.drafted if any(rules) else [()] * len(checks)
        return [
            Spot(check.request.sampling, position, mine, check.tokens, path, draw)
            for check, position, mine, path, draw in zip(checks, positions, rules, paths, work.draws, strict=True)
        ]
