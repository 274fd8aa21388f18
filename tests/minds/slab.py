"""A KV slab that remembers which text each slot holds, and holds every batch to the contract of `Batch`."""

from specpipe.minds.verifying import Verifying
from specpipe.words.batch import Batch


class Slab:
    """`contents[lane][slot]` is the text, up to and including its own token, whose keys and values lie there."""

    def __init__(self) -> None:
        self.contents: dict[int, dict[int, tuple[int, ...]]] = {}

    def run(self, batch: Batch, texts: list[tuple[int, ...]]) -> None:
        """Write the rows of a batch, `texts` being what each stands for; fail unless each sees exactly its own text.

        A row's parents are in the slab already or come before it in the batch.
        """
        lanes = batch.lanes.tolist()
        assert [len(text) - 1 for text in texts] == batch.positions.tolist()
        assert [text[-1] for text in texts] == batch.tokens.tolist()
        assert len(set(zip(lanes, batch.slots.tolist(), strict=True))) == len(texts), "two rows share a slot"
        assert lanes == sorted(lanes, key=lanes.index), "rows of one lane are no neighbours"
        for row, text in enumerate(texts):
            self._row(batch, row, text)

    def _row(self, batch: Batch, row: int, text: tuple[int, ...]) -> None:
        held = self.contents.setdefault(int(batch.lanes[row]), {})
        held[int(batch.slots[row])] = text
        shown = [held.get(slot) for slot in batch.visible[row].nonzero()[0].tolist()]
        assert sorted(shown, key=lambda each: len(each or ())) == [text[:length] for length in range(1, len(text) + 1)]

    def follow(self, mind: Verifying) -> None:
        """Do what a verifier's mind wants moved; all of a move is read before any is written."""
        while mind.moves:
            move = mind.moves.pop()
            held = self.contents[move.lane]
            taken = [held[slot] for slot in move.sources.tolist()]
            held.update(zip(move.targets.tolist(), taken, strict=True))
