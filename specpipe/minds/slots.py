"""Which slot of a lane's KV slab holds which prefix, for a worker whose branches lie anywhere in it."""

from heapq import heappop, heappush


class Slots(dict[int, int]):
    """The slot of each prefix that has one. Hands out the lowest free slot, so that few are shown to attention."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self._free = list(range(count))

    @property
    def free(self) -> int:
        """How many slots are left."""
        return len(self._free)

    def hold(self, prefix: int) -> int:
        """Return the slot of `prefix`, a free one if it has none yet; there must be one."""
        slot = self.get(prefix)
        if slot is None:
            slot = self[prefix] = heappop(self._free)
        return slot

    def drop(self, prefix: int) -> None:
        """Free the slot of one prefix, if it has one."""
        slot = self.pop(prefix, None)
        if slot is not None:
            heappush(self._free, slot)
