"""One way to log: to standard error, a line an event, the role in front."""

import logging
import os
import sys

_FORMAT = "%(asctime)s %(role)s %(levelname)s %(name)s: %(message)s"


def configure(role: str, level: str | None = None) -> None:
    """Send this process's log lines to standard error; the level is `SPECPIPE_LOG` unless given."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter(_FORMAT, defaults={"role": role}))
    root = logging.getLogger("specpipe")
    root.handlers[:] = [handler]
    root.setLevel((level or os.environ.get("SPECPIPE_LOG", "WARNING")).upper())
    root.propagate = False
