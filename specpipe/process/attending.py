"""What a worker does while its device works on: it goes on hearing, and is back in time."""

from collections.abc import Callable

from specpipe.clock import now
from specpipe.links.seam import Link
from specpipe.links.wait import wait
from specpipe.process.ending import Ending
from specpipe.process.wires import Wires

# Sleeping wakes late, so that the last moment is spent awake.
_AWAKE_S = 0.0002


def attend(wires: Wires[Link], ending: Ending, hear: Callable[[], None], until: float) -> None:
    """Call `hear` whenever something arrives, until the moment `until` of `clock.now`, or until asked to end."""
    while (left := until - now()) > 0 and not ending.asked:
        if left > _AWAKE_S:
            wait([*wires, ending.descriptor], left - _AWAKE_S)
            hear()
