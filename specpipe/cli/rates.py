"""What an instance does, as rates between two looks at it."""

from specpipe.words.messages import Status


class Rates:
    """Turns two statuses into rates over the time between them."""

    def __init__(self) -> None:
        self._last: Status | None = None
        self._at = 0.0

    def between(self, status: Status, at: float) -> dict[str, float]:
        """Return the rates since the last call; acceptance is accepted over checked tokens."""
        last, seconds = self._last or status, max(at - self._at, 1e-9)
        self._last, self._at = status, at
        passes = status.passes - last.passes
        checked = status.checked_tokens - last.checked_tokens
        return {
            "tokens_per_second": (status.committed_tokens - last.committed_tokens) / seconds,
            "tokens_per_pass": (status.committed_tokens - last.committed_tokens) / passes if passes else 0.0,
            "acceptance_rate": (status.accepted_tokens - last.accepted_tokens) / checked if checked else 0.0,
        }

    def line(self, status: Status, at: float) -> str:
        """Return the rates in words."""
        rates = self.between(status, at)
        return (
            f"{rates['tokens_per_second']:.1f} tokens/s, {status.open_requests} open, "
            f"{rates['tokens_per_pass']:.2f} tokens/pass, {rates['acceptance_rate']:.0%} accepted; "
            f"{status.finished_requests} answers, {status.committed_tokens} tokens in all"
        )
