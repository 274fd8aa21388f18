"""What a verifier's mind has its model do: a prefill or a pass, and what of the slab is to be moved afterwards."""

from collections.abc import Sequence
from dataclasses import dataclass

from specpipe.minds.branches import Node, in_depth
from specpipe.minds.check import Check
from specpipe.minds.choosing import Choice
from specpipe.words.batch import Batch, Ints
from specpipe.words.draw import Draw


@dataclass(frozen=True, slots=True)
class Prefill:
    """Tokens that are known already: of a prompt (`wide`), or committed in an earlier life (decoding widths)."""

    check: Check
    batch: Batch
    wide: bool


@dataclass(frozen=True, slots=True)
class Pass:
    """One forward pass: for each request its root and the nodes to check, in the order of the batch's rows.

    The keys and values of a request's rows lie in the slots from its root's position on, in the order of the rows.
    """

    parts: list[tuple[Check, list[Node]]]
    batch: Batch

    @property
    def checks(self) -> list[Check]:
        """The request of each row."""
        return [check for check, nodes in self.parts for _ in range(1 + len(nodes))]

    @property
    def drafted(self) -> list[list[int]]:
        """The drafted tokens of each row's text, from below the root to the row itself; the root's own has none."""
        return [[each.token for each in node.path()] for check, nodes in self.parts for node in (check.root, *nodes)]

    @property
    def draws(self) -> list[Draw | None]:
        """What was drawn after each row, whether or not it is a row too: a draw that has arrived is always judged."""
        return [check.drafted.drawn(each.prefix) for check, nodes in self.parts for each in (check.root, *nodes)]

    def apart(self) -> list["Pass"]:
        """Return a pass for each request alone."""
        passes, row = list[Pass](), 0
        for check, nodes in self.parts:
            upto = row + 1 + len(nodes)
            passes.append(Pass([(check, nodes)], self.batch.some(slice(row, upto))))
            row = upto
        return passes


Work = Prefill | Pass


@dataclass(frozen=True, slots=True)
class Move:
    """Keys and values of one lane to be copied to where the committed text has its place, before the next work."""

    lane: int
    sources: Ints
    targets: Ints


def passing(chosen: Choice) -> Pass:
    """Return the pass that checks what was chosen."""
    parts = [(each.check, in_depth(each.check.root, each.nodes[:take])) for each, take in chosen.takes]
    return Pass(parts, Batch.joined([_rows(check, nodes) for check, nodes in parts]))


def _rows(check: Check, nodes: Sequence[Node]) -> Batch:
    """The root and the nodes below it, each of which sees the committed text, its ancestors and itself."""
    rows, start = [check.root, *nodes], check.root.position
    tokens, prefixes = [row.token for row in rows], [row.prefix for row in rows]
    if all(row.position == start + place for place, row in enumerate(rows)):
        return Batch.chain(check.lane, start, tokens, prefixes)
    places = {row.prefix: place for place, row in enumerate(rows)}
    parents = [places[row.parent.prefix] if row.parent else -1 for row in rows]
    return Batch.tree(check.lane, start, tokens, prefixes, parents)
