"""The drafted continuations of one request: a trie of edges, rooted at the last committed token.

Edges are keyed by the hash of their prefix, so one that comes late, twice or out of order is never
wrong: it finds its place, or waits as an orphan for its parent, or is never reached.
"""

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import exp, log
from typing import NamedTuple

from specpipe.words import prefix as prefixes

CAPACITY = 4096
_LEAST = 1e-9


class Edge(NamedTuple):
    """One drafted token: `parent` is the hash of the prefix it continues, `chance` that it is right given it."""

    parent: int
    token: int
    log_q: float
    chance: float


@dataclass(slots=True, eq=False)
class Node:
    """A prefix in the trie. `position` is the absolute index of its token; `reach` the log of the
    product of chances since the trie began, so that differences of `reach` are log path probabilities.
    A chance above one, which only a foreign drafter would claim, counts as one. `mark` is whatever its
    grower wants to remember of it.
    """

    prefix: int
    token: int
    position: int
    parent: "Node | None" = None
    log_q: float = 0.0
    chance: float = 1.0
    reach: float = 0.0
    mark: object = None
    children: "dict[int, Node]" = field(default_factory=dict)

    def best(self) -> "Node | None":
        """Return the most likely child."""
        return max(self.children.values(), key=lambda child: child.chance, default=None)

    def below(self) -> Iterator["Node"]:
        """Yield this node and all under it, parents first."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(node.children.values())


class Trie:
    """The nodes under a root. Bounded: beyond `capacity` nodes or orphans, new ones are not kept."""

    def __init__(self, prefix: int, token: int, position: int, capacity: int = CAPACITY) -> None:
        self.root = Node(prefix, token, position)
        self.capacity = capacity
        self._nodes = {prefix: self.root}
        self._orphans: OrderedDict[int, list[Edge]] = OrderedDict()
        self._orphaned = 0

    def __len__(self) -> int:
        """Return the number of nodes, the root included."""
        return len(self._nodes)

    def find(self, prefix: int) -> Node | None:
        """Return the node of a prefix under the root."""
        return self._nodes.get(prefix)

    def likelihood(self, node: Node) -> float:
        """Return the estimated probability that the true text passes through `node`."""
        return exp(node.reach - self.root.reach)

    def insert(self, edge: Edge) -> Node | None:
        """Add an edge; return its new node, or None if it was known, waits for its parent, or has no room."""
        parent = self._nodes.get(edge.parent)
        if parent is None:
            self._keep_orphan(edge)
            return None
        node = self._grown(parent, edge)
        if node is not None and node.prefix in self._orphans:
            self._adopt(node)
        return node

    def grow(self, parent: Node, token: int, log_q: float, chance: float) -> Node | None:
        """Add a child of a node that is in the trie, with a chance above 0 and up to 1; return it, or None if it
        was known or has no room.
        """
        if token in parent.children or len(self._nodes) >= self.capacity:
            return None
        prefix = prefixes.child(parent.prefix, token)
        node = Node(prefix, token, parent.position + 1, parent, log_q, chance, parent.reach + log(chance))
        parent.children[token] = node
        self._nodes[prefix] = node
        return node

    def advance(self, token: int) -> bool:
        """Move the root down by one committed token; return whether that child was there."""
        before = self.root
        child = before.children.pop(token, None)
        for node in before.below():
            del self._nodes[node.prefix]
        self.root = child or Node(prefixes.child(before.prefix, token), token, before.position + 1)
        self.root.parent = None
        if child is None:
            self._nodes[self.root.prefix] = self.root
            self._adopt(self.root)
        return child is not None or bool(self.root.children)

    def _grown(self, parent: Node, edge: Edge) -> Node | None:
        return self.grow(parent, edge.token, edge.log_q, min(max(edge.chance, _LEAST), 1.0))

    def _adopt(self, node: Node) -> None:
        waiting = [node.prefix]
        while waiting:
            edges = self._orphans.pop(waiting.pop(), [])
            self._orphaned -= len(edges)
            grown = (self._grown(self._nodes[edge.parent], edge) for edge in edges)
            waiting.extend(child.prefix for child in grown if child)

    def _keep_orphan(self, edge: Edge) -> None:
        self._orphans.setdefault(edge.parent, []).append(edge)
        self._orphaned += 1
        while self._orphaned > self.capacity:
            _, oldest = self._orphans.popitem(last=False)
            self._orphaned -= len(oldest)
