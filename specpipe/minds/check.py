"""One request as the verifier sees it: it owns the committed tokens and says when the text ends."""

from collections.abc import Sequence

from specpipe.minds.branches import Node
from specpipe.words import prefix as prefixes
from specpipe.words.drafted import Drafted
from specpipe.words.messages import Open

# The raw best tokens at one place, best first, and their log-probabilities.
Top = tuple[Sequence[int], Sequence[float]]


class Check:
    """The verifier's state of one request. The first `held` tokens are in the slab, each at its position.

    `root` is the last committed token, `drafted` what the drafter guessed; `finish` says how the request ended,
    empty while it goes on; `missed` whether the root had not been drafted.
    """

    def __init__(self, request: Open, lane: int, now: float) -> None:
        self.request = request
        self.lane = lane
        self.tokens: list[int] = [*request.prompt.tolist(), *request.committed.tolist()]
        self.log_p: list[float] = [0.0] * len(request.committed)
        told = len(request.committed) * request.sampling.top_logprobs
        self.top_ids: list[int] = [0] * told
        self.top_log_p: list[float] = [0.0] * told
        self.stop_tokens = frozenset(request.ending.stop_tokens)
        self.held = 0
        self.finish = ""
        self.committed_at = now
        self.heard_at = now
        self.missed = True
        self.drafted = Drafted()
        self.root = Node(self._prefix(), self.tokens[-1], len(self.tokens) - 1)

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

    def stops_after(self, node: Node) -> bool:
        """Return whether the draft's first choice after `node` ends the text, so that no chain goes on there."""
        edge = self.drafted.first(node.prefix)
        return edge is not None and edge.token in self.stop_tokens

    def walk(self, nodes: Sequence[Node], sampled: Sequence[int]) -> list[int]:
        """Return the rows whose samples are committed: the root's, 0, and on from each node that was right.

        `sampled` has the target's own token after the root and after each of `nodes`.
        """
        rows = {node.prefix: row for row, node in enumerate(nodes, 1)}
        walked, prefix = [0], self.root.prefix
        while (token := sampled[walked[-1]]) not in self.stop_tokens:
            prefix = prefixes.child(prefix, token)
            if prefix not in rows:
                break
            walked.append(rows[prefix])
        return walked

    def commit(self, tokens: Sequence[int], log_p: Sequence[float], context: int, now: float) -> None:
        """Append what a pass found, move the root, and note if the text ends."""
        self.held = len(self.tokens) + len(tokens) - 1
        for token in tokens:
            self._advance(token)
        self.tokens += tokens
        self.log_p += log_p
        self.committed_at = now
        if tokens[-1] in self.stop_tokens:
            self.finish = "stop"
        elif self.room(context) <= 0:
            self.finish = "length"

    def tell(self, tops: Sequence[Top]) -> None:
        """Note the best tokens at the places that were committed last."""
        for ids, log_p in tops:
            self.top_ids += ids
            self.top_log_p += log_p

    def _advance(self, token: int) -> None:
        before = self.root
        self.root = Node(prefixes.child(before.prefix, token), token, before.position + 1)
        self.missed = not (self.drafted.foresaw(before.prefix, token) or self.drafted.after(self.root.prefix))

    def _prefix(self) -> int:
        return prefixes.extend(prefixes.origin(self.request.request), self.tokens)
