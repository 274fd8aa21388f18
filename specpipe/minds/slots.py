"""Which slot of a lane's KV slab holds which prefix, for a worker whose branches lie anywhere in it."""

from heapq import heappop, heappush


class Slots:
    """Hands out the lowest free slot, so that the keys shown to attention stay few."""

    def __init__(self, count: int) -> None:
        self._free = list(range(count))
        self._held: dict[int, int] = {}

    def __contains__(self, prefix: int) -> bool:
        return prefix in self._held

    def __getitem__(self, prefix: int) -> int:
        return self._held[prefix]

    @property
    def free(self) -> int:
        """How many slots are left."""
        return len(self._free)

    def take(self, prefix: int) -> int:
        """Return a slot for `prefix`, which must not hold one yet; there must be a free one."""
        slot = heappop(self._free)
        self._held[prefix] = slot
        return slot

    def drop(self, prefix: int) -> None:
        """Free the slot of one prefix, if it has one."""
        slot = self._held.pop(prefix, None)
        if slot is not None:
            heappush(self._free, slot)
