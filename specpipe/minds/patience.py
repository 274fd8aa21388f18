"""When the next edges can be expected, and whether waiting for them is worth it.

Waiting one more drafter step pays only if it raises the expected tokens a second of the pass. A drafter
that let an expected moment pass is not waited for again until it is heard of.
"""

from collections.abc import Sequence

from specpipe.minds.check import Check
from specpipe.minds.choosing import Choice
from specpipe.minds.foresight import Foresight
from specpipe.words.messages import Edges

_HOP = 0.0005
# A sequential request waits for its whole block, this long beyond the last that was heard of it and this many
# drafter steps more, but for a single edge never longer than the last bound, whatever the drafter says of its pace.
_BLOCK_WAIT = 0.25
_BLOCK_STEPS = 10
_LONGEST_WAIT = 5.0


class Patience:
    """Watches the drafter's rhythm. `quiet` says that it let a moment pass, `absent` that it let a whole block be
    waited for in vain; either lasts until it is heard of.
    """

    def __init__(self) -> None:
        self.quiet = True
        self.absent = False
        self.foresight = Foresight()
        self._heard = 0.0
        self._step = 0.0
        self._vain = (0.0, 0.0, 0.0)

    def hear(self, edges: Edges, now: float) -> None:
        """Learn from edges that arrived."""
        self.quiet = self.absent = False
        self._heard = now
        self._step = edges.step_s
        self.foresight.learn(edges)

    def worth_waiting(self, choice: Choice, ahead: Choice, now: float) -> float | None:
        """Return until when to wait for the next edges, or None to start now; `ahead` is what they would make of
        `choice`.
        """
        drafted = [each for each, _ in choice.takes if each.check.request.mode == "pipelined"]
        if self.quiet or not drafted:
            return None
        due = self._due([each.check for each in drafted])
        late = due + self._step + _HOP
        if now >= late:
            self.quiet = True
            return None
        if self._waited_in_vain(choice, due):
            return None
        rate = ahead.expected / (ahead.seconds + max(due - now, 0.0))
        return late if rate > choice.rate else None

    def block_deadline(self, check: Check) -> float:
        """Return until when a sequential request waits for more of its block."""
        since = max(check.committed_at, check.heard_at)
        return since + min(_BLOCK_WAIT + _BLOCK_STEPS * self._step, _LONGEST_WAIT)

    def _waited_in_vain(self, choice: Choice, due: float) -> bool:
        """Whether edges came when they were due and brought this pass nothing."""
        roots, expected, was_due = self._vain
        here = sum(each.check.committed_at for each, _ in choice.takes)
        if (roots, expected) == (here, choice.expected):
            return self._heard >= was_due
        self._vain = (here, choice.expected, due)
        return False

    def _due(self, checks: Sequence[Check]) -> float:
        """The drafter learns of a miss with the verdict and must first end the step that it is in."""
        missed = [check.committed_at + self._step / 2 for check in checks if not check.drafted.after(check.root.prefix)]
        return max([self._heard, *missed]) + self._step + _HOP
