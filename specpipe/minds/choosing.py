"""How many drafted rows a pass checks: the N that maximises E(N) / T(N) over all requests together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from specpipe.minds.check import Check
from specpipe.words.trie import Node

LONGEST_CHAIN = 64


@dataclass(frozen=True, slots=True)
class Candidate:
    """One request with the chain that could be checked below its root, and the chance of reaching each node."""

    check: Check
    nodes: list[Node]
    chances: list[float]


@dataclass(frozen=True, slots=True)
class Choice:
    """What a pass would check: for each request the first `take` nodes of its chain, and what to expect of it."""

    takes: list[tuple[Candidate, int]]
    expected: float
    seconds: float

    @property
    def rate(self) -> float:
        """Expected tokens a second."""
        return self.expected / max(self.seconds, 1e-9)


def candidate(check: Check, context: int) -> Candidate:
    """Return the chain of one request, as long as its budget and `context` allow."""
    longest = min(check.room(context) - 1, check.request.nodes or LONGEST_CHAIN, LONGEST_CHAIN)
    nodes = check.chain(longest) if check.request.mode != "target" else []
    return Candidate(check, nodes, [check.trie.likelihood(node) for node in nodes])


def choose(candidates: Sequence[Candidate], seconds: Callable[[int], float], most: int) -> Choice:
    """Return the best choice of at most `most` drafted rows; requests with a fixed number get it in any case."""
    fixed = [each for each in candidates if each.check.request.nodes]
    takes = {id(each): len(each.nodes) for each in fixed}
    rows = len(candidates) + sum(takes.values())
    expected = float(len(candidates)) + sum(sum(each.chances) for each in fixed)
    best = Choice(_taken(candidates, takes), expected, seconds(rows))
    for chance, each in _ranked(candidates)[: max(0, most - rows)]:
        takes[id(each)] = takes.get(id(each), 0) + 1
        rows += 1
        expected += chance
        if expected / seconds(rows) > best.rate:
            best = Choice(_taken(candidates, takes), expected, seconds(rows))
    return best


def _ranked(candidates: Sequence[Candidate]) -> list[tuple[float, Candidate]]:
    free = [(chance, each) for each in candidates if not each.check.request.nodes for chance in each.chances]
    return sorted(free, key=lambda pair: -pair[0])


def _taken(candidates: Sequence[Candidate], takes: dict[int, int]) -> list[tuple[Candidate, int]]:
    return [(each, takes.get(id(each), 0)) for each in candidates]
