"""From chosen nodes to the rows of one drafter step: everything on the way to them that is not cached yet.

What the slab holds decides what is fed, so the last accepted token, a correction that nobody drafted and
a branch opened by an n-gram need no special case.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import numpy as np

from specpipe.minds.draft import Draft
from specpipe.words.batch import Batch, Bools
from specpipe.words.trie import Node

_MOST_BROUGHT_ALONG = 8


class Row(NamedTuple):
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

    def apart(self) -> list["Step"]:
        """Return a step for each request alone."""
        steps, row = list[Step](), 0
        for _, group in groupby(self.rows, lambda row: row.draft):
            mine = list(group)
            steps.append(Step(mine, self.batch.some(slice(row, row + len(mine))), self.prefill))
            row += len(mine)
        return steps


class Stepper:
    """Builds steps; takes slots for the rows as it does."""

    def __init__(self, prefill_rows: int) -> None:
        self._prefill_rows = prefill_rows

    def prefill(self, draft: Draft) -> Step | None:
        """Return the next chunk of committed tokens before the root, if more than a few are missing."""
        if not is_behind(draft) or draft.slots.free <= len(draft.tokens) - draft.cached:
            return None
        stop = min(draft.cached - draft.cached % self._prefill_rows + self._prefill_rows, len(draft.tokens) - 1)
        rows = [_committed(draft, position) for position in range(draft.cached, stop)]
        return Step(rows, _batch(rows), prefill=True)

    def step(self, chosen: Sequence[tuple[Draft, Node]]) -> Step:
        """Return the rows that expand `chosen`; rows of one draft are neighbours, parents before children."""
        nodes: dict[Draft, list[Node]] = {}
        for draft, node in chosen:
            nodes.setdefault(draft, []).append(node)
        rows = [row for draft, mine in nodes.items() for row in _rows(draft, mine)]
        return Step(rows, _batch(rows))


def is_behind(draft: Draft) -> bool:
    """Whether more committed tokens are missing from the slab than a step should bring along."""
    return len(draft.tokens) - 1 - draft.cached > _MOST_BROUGHT_ALONG


def without_model(chosen: Sequence[tuple[Draft, Node]]) -> Step:
    """Return a step for a drafter that runs no model, and so has neither slots nor a batch."""
    return Step([_drafted(draft, node) for draft, node in chosen], Batch.chain(0, 0, [], []))


def _rows(draft: Draft, nodes: Iterable[Node]) -> list[Row]:
    wanted: dict[int, Node] = {}
    for node in nodes:
        for each in reversed([node, *_missing_above(draft, node)]):
            wanted.setdefault(each.prefix, each)
    draft.expanded.update(wanted)
    committed = [_committed(draft, position) for position in range(draft.cached, len(draft.tokens) - 1)]
    return committed + [_drafted(draft, node) for node in wanted.values()]


def _missing_above(draft: Draft, node: Node) -> Iterator[Node]:
    """Yield the ancestors that are not in the slab; above one that is, all are."""
    above = node.parent
    while above is not None and above.prefix not in draft.slots:
        yield above
        above = above.parent


def _committed(draft: Draft, position: int) -> Row:
    return Row(draft, draft.hashes[position], draft.tokens[position], position, None)


def _drafted(draft: Draft, node: Node) -> Row:
    return Row(draft, node.prefix, node.token, node.position, node)


def _batch(rows: Sequence[Row]) -> Batch:
    slots = [row.draft.slots.hold(row.prefix) for row in rows]
    return Batch(
        lanes=np.array([row.draft.lane for row in rows], np.int64),
        tokens=np.array([row.token for row in rows], np.int64),
        positions=np.array([row.position for row in rows], np.int64),
        slots=np.array(slots, np.int64),
        visible=_visible(rows),
        prefixes=np.array([row.prefix for row in rows], np.uint64),
    )


def _visible(rows: Sequence[Row]) -> Bools:
    seen = [_seen(row) for row in rows]
    shown = 1 + max(slots.rfind(1) for slots in seen)
    flat = bytearray().join(slots[:shown] for slots in seen)
    return np.frombuffer(flat, np.bool_).reshape(len(rows), shown)


def _seen(row: Row) -> bytearray:
    """Mark the slots that a row sees: the committed tokens up to it, its ancestors and itself."""
    draft = row.draft
    if row.position < len(draft.tokens):
        draft.cover(row.position)
    seen = draft.base[:]
    node = row.node
    while node is not None and node.parent is not None:
        seen[draft.slots[node.prefix]] = 1
        node = node.parent
    return seen
