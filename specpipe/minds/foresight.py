"""What the drafter's next step would add to the nodes that are known, judged by what its recent ones added."""

from collections.abc import Sequence
from dataclasses import replace
from heapq import nlargest
from itertools import groupby
from operator import itemgetter

from specpipe.minds.branches import Node
from specpipe.minds.choosing import Candidate
from specpipe.words.messages import Edges

_WEIGHT = 0.05
_CHANCES = (0.5, 0.1, 0.05, 0.03)
_ROWS = 8.0


class Foresight:
    """Learns how many nodes a step expands and the chances of the edges that it puts after each, best first."""

    def __init__(self) -> None:
        self._chances = list(_CHANCES)
        self._rows = _ROWS

    def learn(self, edges: Edges) -> None:
        """Learn from the edges of a step."""
        pairs = zip(edges.parents.tolist(), edges.chances.tolist(), strict=True)
        parents = [[chance for _, chance in group] for _, group in groupby(pairs, key=itemgetter(0))]
        self._rows += _WEIGHT * (len(parents) - self._rows)
        for chances in parents:
            for rank, chance in enumerate(sorted(chances, reverse=True)[: len(self._chances)]):
                self._chances[rank] += _WEIGHT * (chance - self._chances[rank])

    def ahead(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Return the candidates as they would be after one more step, which expands the likeliest nodes of all."""
        ends = [(end, order) for order, each in enumerate(candidates) for end in _ends(each)]
        expanded = nlargest(max(round(self._rows), 1), ends, key=lambda pair: pair[0].likelihood)
        return [
            replace(each, nodes=self._grown(each, [end for end, at in expanded if at == order]))
            for order, each in enumerate(candidates)
        ]

    def _grown(self, each: Candidate, ends: Sequence[Node]) -> list[Node]:
        chances = self._chances if each.shape == "tree" else self._chances[:1]
        new = [_guessed(end, chance) for end in ends for chance in chances]
        return sorted([*each.nodes, *new], key=lambda node: -node.likelihood)


def _ends(each: Candidate) -> list[Node]:
    """Return the nodes that the drafter has not expanded yet, as far as is known."""
    check = each.check
    if check.request.mode != "pipelined":
        return []
    nodes = [check.root, *each.nodes]
    known = nodes if each.shape == "tree" else nodes[-1:]
    return [node for node in known if node.position < each.deepest and not check.drafted.after(node.prefix)]


def _guessed(parent: Node, chance: float) -> Node:
    return Node(0, -1, parent.position + 1, parent, parent.likelihood * chance)
