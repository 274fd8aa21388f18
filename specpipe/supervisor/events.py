"""What the supervisor tells whoever started it, as it happens."""

from dataclasses import dataclass
from typing import Any

from specpipe.supervisor.policy import Role


@dataclass(frozen=True, slots=True)
class Ready:
    """A process serves, `after_s` seconds after its start; `facts` is what it says of itself."""

    role: Role
    pid: int
    after_s: float
    facts: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Restarting:
    """A process ended and will be started again in `after_s` seconds."""

    role: Role
    reason: str
    after_s: float


@dataclass(frozen=True, slots=True)
class GivenUp:
    """A process ended and will not be started again; the service goes on without it."""

    role: Role
    reason: str


@dataclass(frozen=True, slots=True)
class Said:
    """A process wrote a line to standard error."""

    role: Role
    line: str


Event = Ready | Restarting | GivenUp | Said
