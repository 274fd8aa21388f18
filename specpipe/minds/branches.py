"""The drafted nodes below a root in the order in which they are worth checking, likeliest first."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import islice

from specpipe.words import prefix as prefixes
from specpipe.words.drafted import Drafted, Edge


@dataclass(slots=True, eq=False)
class Node:
    """A token under the last committed one, or that itself (the root, without a parent).

    `position` is the absolute index of the token, `likelihood` the estimated probability that the true text passes
    through here; `first` says that all on the way from the root were the draft's first choices.
    """

    prefix: int
    token: int
    position: int
    parent: "Node | None" = None
    likelihood: float = 1.0
    first: bool = True

    def path(self) -> list["Node"]:
        """Return the nodes from below the root down to this one."""
        nodes: list[Node] = []
        node = self
        while node.parent is not None:
            nodes.append(node)
            node = node.parent
        return nodes[::-1]


@dataclass(frozen=True, slots=True)
class Limits:
    """How many nodes at most, and up to which position; beyond a stop token there is nothing to check."""

    nodes: int
    position: int
    stops: frozenset[int]


def chain(drafted: Drafted, root: Node, limits: Limits) -> list[Node]:
    """Return the first-choice chain under the root."""
    nodes: list[Node] = []
    node: Node | None = root
    while len(nodes) < limits.nodes and (node := _first(drafted, node or root, limits)):
        nodes.append(node)
    return nodes


def tree(drafted: Drafted, root: Node, limits: Limits) -> list[Node]:
    """Return the likeliest nodes under the root, parents before children."""
    return list(islice(_best_first(drafted, root, limits), limits.nodes))


def in_depth(root: Node, nodes: Sequence[Node]) -> list[Node]:
    """Return nodes depth first, likelier siblings first, so that a chain of first choices lies at the beginning.

    `nodes` come likeliest first, and with each also its parent.
    """
    children: dict[int, list[Node]] = {}
    for node in nodes:
        children.setdefault((node.parent or root).prefix, []).append(node)
    ordered: list[Node] = []
    stack = [root]
    while stack:
        node = stack.pop()
        ordered.append(node)
        stack += children.get(node.prefix, [])[::-1]
    return ordered[1:]


def _first(drafted: Drafted, node: Node, limits: Limits) -> Node | None:
    edge = drafted.first(node.prefix)
    if edge is None or node.position >= limits.position or edge.token in limits.stops:
        return None
    return _child(node, edge, first=True)


def _best_first(drafted: Drafted, root: Node, limits: Limits) -> Iterator[Node]:
    queue: list[tuple[float, int, Node, Edge, bool]] = []
    order, node = 0, root
    while True:
        if node.position < limits.position:
            for rank, edge in enumerate(drafted.after(node.prefix)):
                if edge.token not in limits.stops:
                    order += 1
                    heappush(queue, (-node.likelihood * edge.chance, order, node, edge, rank == 0))
        if not queue:
            return
        _, _, parent, edge, first = heappop(queue)
        node = _child(parent, edge, first=first and parent.first)
        yield node


def _child(node: Node, edge: Edge, *, first: bool) -> Node:
    prefix = prefixes.child(node.prefix, edge.token)
    return Node(prefix, edge.token, node.position + 1, node, node.likelihood * edge.chance, first)
