"""The one clock that all processes of a host share: seconds of CLOCK_MONOTONIC."""

import time


def now() -> float:
    """Return seconds on the host-wide monotonic clock, comparable between processes."""
    return time.monotonic()
