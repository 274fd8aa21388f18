"""One request as the drafter sees it: the committed tokens, the trie under them, and what the KV slab holds."""

from collections.abc import Sequence
from heapq import heappop, heappush
from itertools import count

import numpy as np
import numpy.typing as npt

from specpipe.minds.calibration import Calibration, Mark
from specpipe.minds.ngram import Lookup
from specpipe.minds.slots import Slots
from specpipe.words import prefix as prefixes
from specpipe.words.messages import Open
from specpipe.words.trie import Edge, Node, Trie


class Draft:
    """The drafter's state of one request. The first `cached` committed tokens are in the slab."""

    def __init__(self, request: Open, lane: int, slots: int, room: int) -> None:
        self.request = request
        self.lane = lane
        self.tokens = [*request.prompt.tolist(), *request.committed.tolist()]
        self.hashes = _hashes(request.request, self.tokens)
        self.trie = Trie(self.hashes[-1], self.tokens[-1], len(self.tokens) - 1, room)
        self.slots = Slots(slots)
        self.base: npt.NDArray[np.bool_] = np.zeros(slots, np.bool_)
        self.cached = 0
        self.lookup = Lookup(self.tokens)
        self.expanded: set[int] = set()
        self._unsent: dict[int, Node] = {}
        self._frontier: list[tuple[float, int, Node]] = []
        self._order = count()
        self.put(self.trie.root)

    @property
    def output(self) -> int:
        """How many tokens have been committed beyond the prompt."""
        return len(self.tokens) - len(self.request.prompt)

    def put(self, node: Node) -> None:
        """Make a node a candidate for expansion."""
        heappush(self._frontier, (-node.reach, next(self._order), node))

    def peek(self) -> float | None:
        """Return the likelihood of the best unexpanded node, if there is one."""
        while self._frontier and self._stale(self._frontier[0][2]):
            heappop(self._frontier)
        return self.trie.likelihood(self._frontier[0][2]) if self._frontier else None

    def pop(self) -> Node:
        """Take the best unexpanded node, which counts as expanded from now on; `peek` must have found one."""
        node = heappop(self._frontier)[2]
        self.expanded.add(node.prefix)
        return node

    def path(self, node: Node) -> list[Node]:
        """Return the nodes from below the root down to `node`."""
        nodes = []
        while node.parent is not None:
            nodes.append(node)
            node = node.parent
        return nodes[::-1]

    def grow(self, parent: Node, token: int, log_q: float, chance: float, mark: Mark) -> Node | None:
        """Add a child and make it a candidate, unless a stop token ends the text there."""
        node = self.trie.insert(Edge(parent.prefix, token, log_q, chance))
        if node is None:
            return None
        node.mark = mark
        self._unsent[node.prefix] = node
        if token not in self.request.ending.stop_tokens:
            self.put(node)
        return node

    def unsent(self, least: float) -> list[Node]:
        """Take the nodes of at least this likelihood that have not been taken yet, parents first."""
        news = [node for node in self._unsent.values() if self.trie.likelihood(node) >= least]
        for node in news:
            del self._unsent[node.prefix]
        return news

    def commit(self, tokens: Sequence[int], calibration: Calibration) -> None:
        """Follow the verifier: learn from what was right, move the root, forget what no longer lies under it."""
        before = [node.prefix for node in self.trie.root.below()]
        for token in tokens:
            self._learn(token, calibration)
            self.trie.advance(token)
            self.tokens.append(token)
            self.hashes.append(self.trie.root.prefix)
        self.lookup.extend(tokens)
        self._note_cached()
        self._prune(before, self.hashes[-len(tokens) - 1 :])

    def _learn(self, token: int, calibration: Calibration) -> None:
        for child in self.trie.root.children.values():
            if isinstance(child.mark, Mark):
                calibration.observe(child.mark, child.token == token)

    def cover(self, position: int) -> None:
        """Note that the committed token at `position` is in the slab; all before it must be."""
        self.base[self.slots[self.hashes[position]]] = True
        self.cached = max(self.cached, position + 1)

    def _note_cached(self) -> None:
        while self.cached < len(self.tokens) and self.hashes[self.cached] in self.slots:
            self.cover(self.cached)

    def _prune(self, before: Sequence[int], committed: Sequence[int]) -> None:
        for prefix in before:
            if prefix not in committed and self.trie.find(prefix) is None:
                self.slots.drop(prefix)
                self.expanded.discard(prefix)
        self._unsent = {prefix: node for prefix, node in self._unsent.items() if node.parent and self.trie.find(prefix)}
        self._frontier = [entry for entry in self._frontier if not self._stale(entry[2])]
        self._frontier.sort()
        if self.trie.root.prefix not in self.expanded:
            self.put(self.trie.root)

    def _stale(self, node: Node) -> bool:
        return node.prefix in self.expanded or self.trie.find(node.prefix) is not node


def _hashes(request: int, tokens: Sequence[int]) -> list[int]:
    hashes = []
    prefix = prefixes.origin(request)
    for token in tokens:
        prefix = prefixes.child(prefix, token)
        hashes.append(prefix)
    return hashes
