"""What an instance has done since it started."""

from dataclasses import dataclass

from specpipe import __version__
from specpipe.minds.roster import Roster
from specpipe.words.messages import Status, Verdict


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

    def status(self, roster: Roster, open_requests: int, *, halted: bool) -> Status:
        """Return what the instance is and did."""
        return Status(
            version=__version__,
            serving=roster.get("verifier") is not None and not halted,
            open_requests=open_requests,
            finished_requests=self.finished,
            failed_requests=self.failed,
            committed_tokens=self.tokens,
            passes=self.passes,
            checked_tokens=self.checked,
            accepted_tokens=self.accepted,
            dropped_frames=sum(worker.dropped for worker in roster.all()),
            workers=roster.statuses(),
        )
