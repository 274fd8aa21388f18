"""The one line that a role prints: it serves, and these are its facts."""

import json
import sys
from typing import Any


def announce(role: str, **facts: Any) -> None:
    """Print the readiness line that a supervisor or a launcher waits for."""
    sys.stdout.write(json.dumps({"ready": role, **facts}) + "\n")
    sys.stdout.flush()
