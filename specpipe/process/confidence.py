"""What only the supervisor may say: that a process has ended, and that the instance shall end.

It shares a secret with the coordinator, in the private run folder. Where the roles were started without a supervisor
there is none, and nobody is believed.
"""

import secrets
from hmac import compare_digest
from pathlib import Path

from specpipe.words.messages import Gone, Halt

_FILE = "secret"


def confide(folder: Path) -> str:
    """Write a fresh secret where the coordinator will find it, and return it."""
    secret = secrets.token_hex(16)
    path = folder / _FILE
    path.touch(0o600)
    path.write_text(secret, "ascii")
    return secret


class Confidence:
    """Tells the supervisor's words from those of others."""

    def __init__(self, folder: Path) -> None:
        path = folder / _FILE
        self._secret = path.read_bytes() if path.is_file() else b""

    def allows(self, message: object) -> bool:
        """Return whether the message may be believed of whoever sent it."""
        if not isinstance(message, Gone | Halt):
            return True
        return bool(self._secret) and compare_digest(message.secret.encode(), self._secret)
