"""Which drafted rows a pass checks: those that maximise E(N) / T(N) over all requests together.

E is the expected number of tokens of the pass, one for each request and one for each node times the chance of
reaching it; T is the measured duration of a pass of that many rows.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from specpipe.minds import branches
from specpipe.minds.branches import Limits, Node
from specpipe.minds.check import Check

MOST_NODES = 64
# A tree costs the comparison bit by bit with the target alone, so a chain is left only for a gain that shows.
_TREE_GAIN = 1.02

Shape = Literal["chain", "tree"]
Seconds = Callable[[int], float]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One request with the nodes that could be checked below its root, likeliest first, parents before children.

    None lies deeper than position `deepest`. `limit` is the number of nodes that it is given in any case, as far as
    there are so many; 0: as many as pay.
    """

    check: Check
    shape: Shape
    nodes: list[Node]
    deepest: int
    limit: int = 0


@dataclass(frozen=True, slots=True)
class Choice:
    """What a pass would check: for each request the first `take` of its nodes, and what to expect of it."""

    takes: list[tuple[Candidate, int]]
    expected: float
    seconds: float

    @property
    def rows(self) -> int:
        """How many rows the pass would have, roots included."""
        return sum(1 + take for _, take in self.takes)

    @property
    def rate(self) -> float:
        """Expected tokens a second."""
        return self.expected / max(self.seconds, 1e-9)


def candidate(check: Check, context: int, shape: Shape) -> Candidate:
    """Return one request with its nodes, as many and as deep as its budget and `context` allow."""
    request = check.request
    deepest = check.root.position + check.room(context) - 1
    most = 0 if request.mode == "target" else request.nodes or MOST_NODES
    grown = branches.chain if shape == "chain" else branches.tree
    nodes = grown(check.drafted, check.root, Limits(most, deepest, check.stop_tokens))
    return Candidate(check, shape, nodes, deepest, request.nodes)


def choose_shape(ready: Sequence[Check], context: int, seconds: Seconds, most: int) -> Choice:
    """Return the best choice, for each request in the shape that it asks for.

    Requests that leave the shape open get trees where these promise visibly more tokens a second.
    """
    chains = _choose_in("chain", ready, context, seconds, most)
    if not any(check.request.check == "auto" for check in ready):
        return chains
    trees = _choose_in("tree", ready, context, seconds, most)
    return trees if trees.rate > _TREE_GAIN * chains.rate else chains


def _choose_in(auto: Shape, ready: Sequence[Check], context: int, seconds: Seconds, most: int) -> Choice:
    return choose([candidate(check, context, _shape(check, auto)) for check in ready], seconds, most)


def _shape(check: Check, auto: Shape) -> Shape:
    if check.request.mode == "sequential":
        return "chain"
    return auto if check.request.check == "auto" else check.request.check


def choose(candidates: Sequence[Candidate], seconds: Seconds, most: int) -> Choice:
    """Return the best choice of at most `most` drafted rows; requests with a limit get theirs in any case."""
    fixed = [min(each.limit, len(each.nodes)) for each in candidates]
    rows = len(candidates) + sum(fixed)
    expected = float(len(candidates)) + sum(map(_likelihood, candidates, fixed))
    ranked = _ranked(candidates)[: max(0, most - rows)]
    promised = accumulate((likelihood for likelihood, _ in ranked), initial=expected)
    options = [(promise / max(seconds(rows + more), 1e-9), -more, promise) for more, promise in enumerate(promised)]
    # Of equal rates the one with the fewest rows.
    _, less, expected = max(options)
    more = -less
    taken = Counter(at for _, at in ranked[:more])
    takes = [(each, count + taken[at]) for at, (each, count) in enumerate(zip(candidates, fixed, strict=True))]
    return Choice(takes, expected, seconds(rows + more))


def _likelihood(each: Candidate, take: int) -> float:
    return sum(node.likelihood for node in each.nodes[:take])


def _ranked(candidates: Sequence[Candidate]) -> list[tuple[float, int]]:
    """Return the nodes of requests without a limit, likeliest first, each with the place of its request."""
    free = [(node.likelihood, at) for at, each in enumerate(candidates) if not each.limit for node in each.nodes]
    return sorted(free, key=lambda pair: -pair[0])
