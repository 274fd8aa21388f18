"""What one request cost and gained, with the formula beside each figure.

All moments are seconds of the host's monotonic clock. The decoding window of a request lasts from the
start of its first pass to the end of its last.
"""

from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from specpipe.words.messages import Stats, Verdict

Interval = tuple[float, float]
_KEPT = 20_000


@dataclass(slots=True)
class Tally:
    """Counts of one request, taken verdict by verdict."""

    opened: float
    first: float = 0.0
    passes: list[Interval] = field(default_factory=list)
    tokens: int = 0
    accepted: int = 0
    checked: int = 0
    hits: int = 0
    accepted_by_depth: list[int] = field(default_factory=list)
    checked_by_depth: list[int] = field(default_factory=list)

    def add(self, verdict: Verdict, now: float) -> None:
        """Count one pass of the verifier."""
        self.tokens += len(verdict.tokens)
        self.first = self.first or now
        self.passes.append((verdict.began, verdict.ended))
        self.accepted += min(len(verdict.tokens) - 1, verdict.checked)
        self.checked += verdict.checked
        self.hits += verdict.hit
        _count(self.accepted_by_depth, verdict.right)
        _count(self.checked_by_depth, verdict.chain)


class Busy:
    """The drafter's recent steps, and how many edges each lot of them made."""

    def __init__(self) -> None:
        self._steps: deque[Interval] = deque(maxlen=_KEPT)
        self._edges: deque[tuple[float, int]] = deque(maxlen=_KEPT)

    def add(self, steps: Iterable[Interval], edges: int) -> None:
        """Note steps that have ended, oldest first, and the edges that they made together."""
        self._steps.extend(steps)
        if self._steps:
            self._edges.append((self._steps[-1][1], edges))

    def within(self, window: Interval) -> list[Interval]:
        """Return the steps that touch a window."""
        return [step for step in self._steps if step[1] > window[0] and step[0] < window[1]]

    def edges(self, window: Interval) -> int:
        """Return how many edges were made in a window."""
        return sum(edges for at, edges in self._edges if window[0] <= at <= window[1])


def stats(tally: Tally, busy: Busy, now: float) -> Stats:
    """Return the figures of a request that ended `now`."""
    if not tally.passes:
        return Stats()
    window = (tally.passes[0][0], tally.passes[-1][1])
    steps = busy.within(window)
    passing = _length(tally.passes)
    wall = max(window[1] - window[0], 1e-9)
    return Stats(
        # committed tokens / time since the request was opened
        tokens_per_second=tally.tokens / max(now - tally.opened, 1e-9),
        passes=len(tally.passes),
        tokens_per_pass=tally.tokens / len(tally.passes),
        # accepted / checked, on the first-choice chain
        acceptance_rate=_share(sum(tally.accepted_by_depth), sum(tally.checked_by_depth)),
        # passes whose new root was already in the trie / passes
        hit_rate=_share(tally.hits, len(tally.passes)),
        # the drafter's busy time inside passes / its busy time
        overlap=_share(_shared(steps, tally.passes), _length(steps)),
        # time without a pass / decoding window
        verifier_wait_share=_share(max(wall - passing, 0.0), wall),
        # time in passes / decoding window
        efficiency=_share(passing, wall),
        drafted_tokens=busy.edges(window),
        checked_tokens=tally.checked,
        accepted_tokens=tally.accepted,
        target_passes_saved=tally.tokens - len(tally.passes),
        time_to_first_token_s=tally.first - tally.opened,
        draft_step_ms=1e3 * _length(steps) / len(steps) if steps else 0.0,
        target_pass_ms=1e3 * passing / len(tally.passes),
        accepted_by_depth=tuple(tally.accepted_by_depth),
        checked_by_depth=tuple(tally.checked_by_depth),
    )


def _count(by_depth: list[int], upto: int) -> None:
    by_depth.extend([0] * (upto - len(by_depth)))
    for depth in range(upto):
        by_depth[depth] += 1


def _share(part: float, whole: float) -> float:
    return min(part / whole, 1.0) if whole > 0 else 0.0


def _length(intervals: Iterable[Interval]) -> float:
    return sum(ended - began for began, ended in intervals)


def _shared(steps: Iterable[Interval], passes: list[Interval]) -> float:
    return sum(max(0.0, min(step[1], each[1]) - max(step[0], each[0])) for step, each in _met(steps, passes))


def _met(steps: Iterable[Interval], passes: list[Interval]) -> Iterator[tuple[Interval, Interval]]:
    ends = [ended for _, ended in passes]
    for step in steps:
        for at in range(bisect_left(ends, step[0]), len(passes)):
            if passes[at][0] >= step[1]:
                break
            yield step, passes[at]
