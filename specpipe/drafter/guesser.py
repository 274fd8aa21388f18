"""The draft model at work: from the rows of a step to its best next tokens."""

import torch

from specpipe.minds.stepping import Row, Step
from specpipe.models.seam import Executor
from specpipe.sampling.proposer import Proposer
from specpipe.sampling.rules import RuleBook
from specpipe.sampling.spot import Spot
from specpipe.words.proposals import Proposals


class Guesser:
    """Runs steps on a model; `fan` is the number of children of each row."""

    def __init__(self, executor: Executor, fan: int) -> None:
        self._executor = executor
        self._fan = fan
        self._proposer = Proposer(executor.facts.vocabulary, executor.facts.token_ids, executor.facts.device)
        self._rules = RuleBook(self._proposer.columns)

    @property
    def asynchronous(self) -> bool:
        """Whether the device works on after `guess` has returned."""
        return self._executor.facts.asynchronous

    @property
    def busy_until(self) -> float:
        """The moment at which the device is done with the step."""
        return self._executor.busy_until

    def mend(self, lane: int) -> None:
        """Clear a lane of what is no number."""
        self._executor.mend(lane)

    def guess(self, step: Step) -> Proposals | None:
        """Run a step; return the best children of each row, or None for a prefill."""
        with torch.inference_mode():
            if step.prefill:
                self._executor.prefill(step.batch)
                return None
            logits = self._executor.decode(step.batch)
            return self._proposer.propose(logits, [self._spot(row) for row in step.rows], self._fan)

    def _spot(self, row: Row) -> Spot:
        """Say where a row is; what is guessed after a committed token is not asked for, so no rule matters there."""
        draft, sampling = row.draft, row.draft.request.sampling
        rules = None if row.node is None else self._rules.of(draft, draft.request)
        if row.node is None or rules is None:
            return Spot(sampling, row.position + 1)
        return Spot(sampling, row.position + 1, rules, draft.tokens, [node.token for node in draft.path(row.node)])
