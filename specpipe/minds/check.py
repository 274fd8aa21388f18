"""One request as the verifier sees it: it owns the committed tokens and says when the text ends."""

from collections.abc import Sequence

from specpipe.words import prefix as prefixes
from specpipe.words.messages import Open
from specpipe.words.trie import Node, Trie


class Check:
    """The verifier's state of one request. The first `held` tokens are in the slab, each at its position.

    `finish` says how it ended, empty while it goes on; `missed` whether the root had not been drafted.
    """

    def __init__(self, request: Open, lane: int, now: float) -> None:
        self.request = request
        self.lane = lane
        self.tokens: list[int] = [*request.prompt.tolist(), *request.committed.tolist()]
        self.log_p: list[float] = [0.0] * len(request.committed)
        self.held = 0
        self.finish = ""
        self.committed_at = now
        self.heard_at = now
        self.missed = True
        self.trie = Trie(self._prefix(), self.tokens[-1], len(self.tokens) - 1)

    @property
    def prompt(self) -> int:
        """How many tokens the prompt has."""
        return len(self.request.prompt)

    @property
    def output(self) -> int:
        """How many tokens have been committed beyond the prompt."""
        return len(self.tokens) - self.prompt

    @property
    def decoding(self) -> bool:
        """Whether all before the root is in the slab and the text goes on."""
        return not self.finish and self.held == len(self.tokens) - 1

    def room(self, context: int) -> int:
        """Return how many more tokens may be committed."""
        return min(self.request.ending.max_tokens - self.output, context - len(self.tokens))

    def chain(self, longest: int) -> list[Node]:
        """Return the first-choice chain under the root."""
        nodes: list[Node] = []
        node = self.trie.root.best()
        while node is not None and len(nodes) < longest:
            nodes.append(node)
            node = None if self.stops(node.token) else node.best()
        return nodes

    def stops(self, token: int) -> bool:
        """Whether the text ends with this token."""
        return token in self.request.ending.stop_tokens

    def walk(self, nodes: Sequence[Node], sampled: Sequence[int]) -> int:
        """Return how many sampled tokens are committed: one, and one more for each checked node that was right."""
        length = 1
        for node, token in zip(nodes, sampled, strict=False):
            if node.token != token or self.stops(token):
                break
            length += 1
        return length

    def foresaw_end(self, nodes: Sequence[Node], sampled: Sequence[int], length: int) -> bool:
        """Whether the last of `length` committed tokens ends the text and had been drafted: no guess was wrong then."""
        return length <= len(nodes) and nodes[length - 1].token == sampled[length - 1]

    def commit(self, tokens: Sequence[int], log_p: Sequence[float], context: int, now: float) -> None:
        """Append what a pass found, move the root, and note if the text ends."""
        self.held = len(self.tokens) + len(tokens) - 1
        for token in tokens:
            self.missed = not self.trie.advance(token)
        self.tokens += tokens
        self.log_p += log_p
        self.committed_at = now
        if self.stops(tokens[-1]):
            self.finish = "stop"
        elif self.room(context) <= 0:
            self.finish = "length"

    def _prefix(self) -> int:
        return prefixes.extend(prefixes.origin(self.request.request), self.tokens)
