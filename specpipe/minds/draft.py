"""One request as the drafter sees it: the committed tokens, the trie under them, and what the KV slab holds."""

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import count
from math import inf, log

from specpipe.minds.calibration import Kind
from specpipe.minds.ngram import Lookup
from specpipe.minds.slots import Slots
from specpipe.words import prefix as prefixes
from specpipe.words.draw import Draw
from specpipe.words.messages import Open
from specpipe.words.trie import Node, Trie


@dataclass(slots=True, eq=False)
class Guess:
    """What may follow a node. It becomes a node itself when it is taken for expansion; most never are.

    `draw` is there if it was drawn for the ratio test.
    """

    parent: Node
    token: int
    log_q: float
    kind: Kind
    chance: float
    reach: float
    draw: Draw | None = None

    @property
    def urgency(self) -> float:
        """By what it is decided whether to send it: its reach, but for a draw that of its parent.

        Whether the ratio test takes place may not depend on the very token that was drawn.
        """
        return self.parent.reach if self.draw else self.reach


class Draft:
    """The drafter's state of one request.

    The first `cached` committed tokens are in the slab, in the slots marked in `base`.
    `expanded` holds the nodes that were run, or are about to be; `guesses` what was guessed after each node.
    """

    def __init__(self, request: Open, lane: int, slots: int, room: int) -> None:
        self.request = request
        self.lane = lane
        self.tokens = [*request.prompt.tolist(), *request.committed.tolist()]
        self.hashes = _hashes(request.request, self.tokens)
        self.trie = Trie(self.hashes[-1], self.tokens[-1], len(self.tokens) - 1, room)
        self.slots = Slots(slots)
        self.base = bytearray(slots)
        self.cached = 0
        self.lookup = Lookup(self.tokens)
        self.expanded: set[int] = set()
        self.guesses: dict[int, list[Guess]] = {}
        self._stops = frozenset(request.ending.stop_tokens)
        self._fresh: list[Guess] = []
        self._unlikely: list[Guess] = []
        self._frontier: list[tuple[float, int, Guess | Node]] = []
        self._later: list[Node] = []
        self._order = count()
        self._put(self.trie.root)

    @property
    def output(self) -> int:
        """How many tokens have been committed beyond the prompt."""
        return len(self.tokens) - len(self.request.prompt)

    def peek(self) -> float:
        """Return the log-likelihood of the best candidate for expansion, minus infinity if there is none."""
        return -self._frontier[0][0] - self.trie.root.reach if self._frontier else -inf

    def pop(self) -> Node | None:
        """Take the best candidate, which counts as expanded from now on; None if it already was, or finds no room."""
        best = heappop(self._frontier)[2]
        node = best if isinstance(best, Node) else self._node(best)
        if node is None or node.prefix in self.expanded:
            return None
        self.expanded.add(node.prefix)
        return node

    def defer(self, node: Node) -> None:
        """Put back a node until the root has moved."""
        self.expanded.discard(node.prefix)
        self._later.append(node)

    def path(self, node: Node) -> list[Node]:
        """Return the nodes from below the root down to `node`."""
        nodes = []
        while node.parent is not None:
            nodes.append(node)
            node = node.parent
        return nodes[::-1]

    def guess(self, parent: Node, token: int, log_q: float, kind: Kind, draw: Draw | None = None) -> Guess:
        """Note a new guess and make it a candidate, unless a stop token ends the text there."""
        chance = kind.chance
        guess = Guess(parent, token, log_q, kind, chance, parent.reach + log(chance), draw)
        self.guesses.setdefault(parent.prefix, []).append(guess)
        self._fresh.append(guess)
        if token not in self._stops:
            heappush(self._frontier, (-guess.reach, next(self._order), guess))
        return guess

    def follow(self, parent: Node, token: int, kind: Kind, draw: Draw | None = None) -> Node | None:
        """Return the node of a guess that has no log q, or was made already.

        None if it finds no room, or if the text ends with it.
        """
        made = self.guesses.get(parent.prefix, [])
        known = next((guess for guess in made if guess.token == token), None)
        guess = known or self.guess(parent, token, 0.0, kind, draw)
        return None if token in self._stops else self._node(guess)

    def unsent(self, least: float) -> list[Guess]:
        """Take the guesses of at least this likelihood that have not been taken yet, parents first.

        The others become no likelier, and are not looked at again, until the root moves.
        """
        floor = self.trie.root.reach + log(least) if least else -inf
        news = [guess for guess in self._fresh if guess.urgency >= floor]
        self._unlikely += [guess for guess in self._fresh if guess.urgency < floor]
        self._fresh = []
        return news

    def commit(self, tokens: Sequence[int]) -> None:
        """Follow the verifier: learn from what was right, move the root, forget what no longer lies under it."""
        for token in tokens:
            for guess in self.guesses.get(self.trie.root.prefix, []):
                guess.kind.observe(guess.token == token)
            self._forget(token)
            self.trie.advance(token)
            self.tokens.append(token)
            self.hashes.append(self.trie.root.prefix)
        self.lookup.extend(tokens)
        self._note_cached()
        self._sift()

    def cover(self, position: int) -> None:
        """Note that the committed token at `position` is in the slab; all before it must be."""
        self.base[self.slots[self.hashes[position]]] = 1
        self.cached = max(self.cached, position + 1)

    def alive(self, node: Node) -> bool:
        """Whether a node lies under the root, or is it."""
        return self.trie.find(node.prefix) is node

    def _put(self, node: Node) -> None:
        heappush(self._frontier, (-node.reach, next(self._order), node))

    def _node(self, guess: Guess) -> Node | None:
        known = guess.parent.children.get(guess.token)
        return known or self.trie.grow(guess.parent, guess.token, guess.log_q, guess.chance)

    def _forget(self, token: int) -> None:
        """Drop what is kept of the root and of the branches that `token` rules out, but for the root's own slot."""
        self._drop(self.trie.root)
        for branch in self.trie.root.children.values():
            if branch.token != token:
                for node in branch.below():
                    self._drop(node)
                    self.slots.drop(node.prefix)

    def _drop(self, node: Node) -> None:
        self.expanded.discard(node.prefix)
        self.guesses.pop(node.prefix, None)

    def _note_cached(self) -> None:
        while self.cached < len(self.tokens) and self.hashes[self.cached] in self.slots:
            self.cover(self.cached)

    def _sift(self) -> None:
        """Keep what still lies under the root. A root after which nothing was guessed is a candidate again."""
        self._fresh = [guess for guess in (*self._unlikely, *self._fresh) if self.alive(guess.parent)]
        self._unlikely = []
        self._frontier = [entry for entry in self._frontier if self._is_open(entry[2])]
        heapify(self._frontier)
        later, self._later = self._later, []
        for node in filter(self.alive, later):
            self._put(node)
        root = self.trie.root
        if root.prefix not in self.expanded or not self.guesses.get(root.prefix):
            self.expanded.discard(root.prefix)
            self._put(root)

    def _is_open(self, candidate: Guess | Node) -> bool:
        return self.alive(candidate if isinstance(candidate, Node) else candidate.parent)


def _hashes(request: int, tokens: Sequence[int]) -> list[int]:
    hashes = []
    prefix = prefixes.origin(request)
    for token in tokens:
        prefix = prefixes.child(prefix, token)
        hashes.append(prefix)
    return hashes
