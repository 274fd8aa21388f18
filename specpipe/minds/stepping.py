"""From chosen nodes to the rows of one drafter step: everything on the way to them that is not cached yet.

What the slab holds decides what is fed, so the last accepted token, a correction that nobody drafted and
a branch opened by an n-gram need no special case.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from specpipe.minds.draft import Draft
from specpipe.words.batch import Batch
from specpipe.words.trie import Node


@dataclass(frozen=True, slots=True)
class Row:
    """One token to run: a committed one (`node` None), or the root or a drafted one, whose children are wanted."""

    draft: Draft
    prefix: int
    token: int
    position: int
    node: Node | None


@dataclass(frozen=True, slots=True)
class Step:
    """The rows of one forward pass of the drafter; with `prefill` set no logits are wanted."""

    rows: list[Row]
    batch: Batch
    prefill: bool = False


class Stepper:
    """Builds steps; takes slots for the rows as it does."""

    def __init__(self, prefill_rows: int) -> None:
        self._prefill_rows = prefill_rows

    def prefill(self, draft: Draft) -> Step | None:
        """Return the next chunk of committed tokens before the root, if more than a few are missing."""
        missing = len(draft.tokens) - 1 - draft.cached
        if missing <= 8 or draft.slots.free <= missing:
            return None
        stop = min(draft.cached - draft.cached % self._prefill_rows + self._prefill_rows, len(draft.tokens) - 1)
        rows = [_committed(draft, position) for position in range(draft.cached, stop)]
        return Step(rows, _batch(rows), prefill=True)

    def step(self, chosen: Sequence[tuple[Draft, Node]]) -> Step:
        """Return the rows that expand `chosen`; rows of one draft are neighbours, parents before children."""
        rows: list[Row] = []
        for draft in dict.fromkeys(draft for draft, _ in chosen):
            rows += _rows(draft, [node for owner, node in chosen if owner is draft])
        return Step(rows, _batch(rows))


def _rows(draft: Draft, nodes: Sequence[Node]) -> list[Row]:
    last = len(draft.tokens) - 1
    rows = [_committed(draft, position) for position in range(draft.cached, last)]
    wanted: dict[int, Node] = {}
    for node in nodes:
        for each in [draft.trie.root, *draft.path(node)]:
            if each is node or each.prefix not in draft.slots:
                wanted.setdefault(each.prefix, each)
    draft.expanded.update(wanted)
    return rows + [Row(draft, node.prefix, node.token, node.position, node) for node in wanted.values()]


def _committed(draft: Draft, position: int) -> Row:
    return Row(draft, draft.hashes[position], draft.tokens[position], position, None)


def _batch(rows: Sequence[Row]) -> Batch:
    seen = [_visible(row) for row in rows]
    shown = 1 + max(int(slots.nonzero()[0][-1]) for slots in seen)
    return Batch(
        lanes=np.array([row.draft.lane for row in rows], np.int64),
        tokens=np.array([row.token for row in rows], np.int64),
        positions=np.array([row.position for row in rows], np.int64),
        slots=np.array([row.draft.slots[row.prefix] for row in rows], np.int64),
        visible=np.stack([slots[:shown] for slots in seen]),
        prefixes=np.array([row.prefix for row in rows], np.uint64),
    )


def _visible(row: Row) -> npt.NDArray[np.bool_]:
    """Take a slot for the row and return what it sees: the committed tokens, its ancestors and itself."""
    draft = row.draft
    if row.prefix not in draft.slots:
        draft.slots.take(row.prefix)
    if row.position < len(draft.tokens):
        draft.cover(row.position)
        return draft.base.copy()
    seen = draft.base.copy()
    for node in draft.path(row.node) if row.node else []:
        seen[draft.slots[node.prefix]] = True
    return seen
