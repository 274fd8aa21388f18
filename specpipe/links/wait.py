"""The one place where a process blocks."""

import select
from collections.abc import Sequence
from math import inf

from specpipe.clock import now
from specpipe.links.seam import Waitable

_LONGEST_SELECT = 3600.0
_FIRST_TOO_HIGH = 1024


def wait(links: Sequence[Waitable | int], timeout: float | None) -> None:
    """Block until a link has something to receive, a plain descriptor is readable, or `timeout` seconds are over.

    None never times out. A Python signal handler runs at once, and what it raises comes out here; one that
    only takes a note should write to a pipe among `links`.
    """
    deadline = inf if timeout is None else now() + timeout
    plain = [link for link in links if isinstance(link, int)]
    waitable = [link for link in links if not isinstance(link, int)]
    while True:
        # A ZeroMQ descriptor tells of news once, and news need not be a message: ask the links before each block.
        seconds = min([deadline - now(), *(link.patience() for link in waitable)])
        descriptors = [number for number in (link.fileno() for link in waitable) if number >= 0]
        if seconds <= 0 or any(number in plain for number in _readable([*plain, *descriptors], seconds)):
            return


def _readable(descriptors: list[int], seconds: float) -> list[int]:
    # `select` keeps microseconds, where `poll` rounds up to milliseconds, but only counts descriptors to 1023.
    seconds = min(seconds, _LONGEST_SELECT)
    if max(descriptors, default=0) < _FIRST_TOO_HIGH:
        return select.select(descriptors, [], [], seconds)[0]
    poll = select.poll()
    for descriptor in descriptors:
        poll.register(descriptor, select.POLLIN)
    return [descriptor for descriptor, _ in poll.poll(seconds * 1000)]
