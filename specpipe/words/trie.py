"""The trie that a drafter grows for one request, rooted at the last committed token."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import log

from specpipe.words import prefix as prefixes

CAPACITY = 4096


@dataclass(slots=True, eq=False)
class Node:
    """A prefix in the trie. `position` is the absolute index of its token; `reach` the log of the
    product of chances since the trie began, so that differences of `reach` are log path probabilities.
    """

    prefix: int
    token: int
    position: int
    parent: "Node | None" = None
    log_q: float = 0.0
    chance: float = 1.0
    reach: float = 0.0
    children: "dict[int, Node]" = field(default_factory=dict)

    def below(self) -> Iterator["Node"]:
        """Yield this node and all under it, parents first."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(node.children.values())


class Trie:
    """The nodes under a root. Bounded: beyond `capacity` nodes, new ones are not kept."""

    def __init__(self, prefix: int, token: int, position: int, capacity: int = CAPACITY) -> None:
        self.root = Node(prefix, token, position)
        self.capacity = capacity
        self._nodes = {prefix: self.root}

    def __len__(self) -> int:
        """Return the number of nodes, the root included."""
        return len(self._nodes)

    def find(self, prefix: int) -> Node | None:
        """Return the node of a prefix under the root."""
        return self._nodes.get(prefix)

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

    def advance(self, token: int) -> None:
        """Move the root down by one committed token."""
        before = self.root
        child = before.children.pop(token, None)
        for node in before.below():
            del self._nodes[node.prefix]
        self.root = child or Node(prefixes.child(before.prefix, token), token, before.position + 1)
        self.root.parent = None
        if child is None:
            self._nodes[self.root.prefix] = self.root
