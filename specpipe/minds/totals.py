"""What an instance has done since it started."""

from dataclasses import dataclass

from specpipe.words.messages import Verdict


@dataclass(slots=True)
class Totals:
    """Counts over all requests."""

    finished: int = 0
    failed: int = 0
    tokens: int = 0
    passes: int = 0
    checked: int = 0
    accepted: int = 0

    def count(self, verdict: Verdict) -> None:
        """Count one pass over one request."""
        self.passes += 1
        self.checked += verdict.checked
        self.accepted += min(len(verdict.tokens) - 1, verdict.checked)
