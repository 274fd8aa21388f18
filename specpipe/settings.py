"""What an instance is made of: frozen, composed, read from TOML; an unknown or mistyped key is an error.

Each role is handed only its own part. Command-line flags are laid over the file by `merged`.
"""

import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import msgspec
from msgspec import Meta, Struct

from specpipe.errors import SettingsError
from specpipe.wording import objection

Dtype = Literal["auto", "float32", "bfloat16"]
Chance = Annotated[float, Meta(ge=0.0, le=1.0)]
# The longest path of the system.
LONGEST_NAME = 4096
Milliseconds = Annotated[float, Meta(ge=0.0, le=60_000.0)]


class Part(Struct, frozen=True, forbid_unknown_fields=True):
    """Base of all settings: immutable, and unknown keys are refused."""


class ModelSettings(Part, frozen=True):
    """Which model a worker serves and where it runs.

    `name` is a shipped name (`smollm2`), a local folder or a hub id; for the draft also `auto`, `none`,
    `ngram`, or a model with `+ngram` behind it. `threads` 0 and empty `cores` leave the choice to the
    launcher. `trust_remote_code` allows code that comes with this model to run.
    """

    name: Annotated[str, Meta(min_length=1, max_length=LONGEST_NAME)]
    device: str = "auto"
    dtype: Dtype = "auto"
    threads: Annotated[int, Meta(ge=0, le=1024)] = 0
    cores: tuple[int, ...] = ()
    trust_remote_code: bool = False

    def __post_init__(self) -> None:
        # A path that is not UTF-8 could neither be written to a file of settings nor sent to another process.
        if not self.name.isascii() and self.name != self.name.encode("utf-8", "replace").decode("utf-8"):
            raise ValueError("its name is not valid UTF-8")


class SpeculationSettings(Part, frozen=True):
    """How drafts are grown and checked: `check` the shape in which drafted rows are checked (`auto`: chosen by
    measurement), `nodes` N of them in a pass (0: chosen by measurement), `lanes` M nodes in a drafter step,
    `fan` F children of each, `acceptance` how drafted tokens are judged.
    """

    mode: Literal["pipelined", "sequential", "target"] = "pipelined"
    check: Literal["chain", "tree", "auto"] = "chain"
    nodes: Annotated[int, Meta(ge=0, le=1024)] = 0
    lanes: Annotated[int, Meta(ge=1, le=1024)] = 8
    fan: Annotated[int, Meta(ge=1, le=64)] = 4
    acceptance: Literal["coupled", "rejection"] = "coupled"


class EngineSettings(Part, frozen=True):
    """Room and arithmetic of both workers.

    `context` bounds the positions of a request (0: the model's own limit), `requests` those open at once,
    `waiting` those queued. `batch_invariant` fixes the widths of all arithmetic, so that a row has the
    same bits whatever runs beside it.
    """

    context: Annotated[int, Meta(ge=0, le=1 << 22)] = 0
    requests: Annotated[int, Meta(ge=1, le=1024)] = 4
    waiting: Annotated[int, Meta(ge=0, le=1 << 20)] = 256
    batch_invariant: bool = True


class RecoverySettings(Part, frozen=True):
    """What is done about a worker that ends or hangs.

    It is started again up to `restarts` times in `window_s` seconds, the first time after `first_s` and then each
    time four times as late. One that gives no sign of life for `silence_s` seconds is killed (0: never); it gives
    none during a pass, a step or a chunk of a prompt.
    """

    restarts: Annotated[int, Meta(ge=0, le=1 << 20)] = 3
    window_s: Annotated[float, Meta(gt=0.0, le=1e6)] = 60.0
    first_s: Annotated[float, Meta(ge=0.0, le=60.0)] = 0.25
    silence_s: Annotated[float, Meta(ge=0.0, le=1e6)] = 30.0


class SimulatedSettings(Part, frozen=True):
    """The simulated devices: `w[r]` is the chance that the true token is the draft's choice of rank r."""

    w: Annotated[tuple[Chance, ...], Meta(min_length=1, max_length=64)] = (0.7, 0.12, 0.05, 0.03)
    draft_ms: Milliseconds = 5.0
    target_ms: Milliseconds = 100.0
    row_ms: Milliseconds = 0.0


class Settings(Part, frozen=True):
    """All of an instance."""

    target: ModelSettings = ModelSettings("smollm2")
    draft: ModelSettings = ModelSettings("auto")
    speculation: SpeculationSettings = SpeculationSettings()
    engine: EngineSettings = EngineSettings()
    recovery: RecoverySettings = RecoverySettings()
    simulated: SimulatedSettings = SimulatedSettings()
    transport: Literal["ipc", "tcp"] = "ipc"

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a TOML file; raise `SettingsError` that names the file and the key."""
        try:
            return cls.of(tomllib.loads(path.read_text("utf-8")))
        except OSError as error:
            raise SettingsError(f"cannot read {path}: {error.strerror}") from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, SettingsError) as error:
            raise SettingsError(f"{path}: {error}") from error

    @classmethod
    def of(cls, tree: dict[str, Any]) -> Self:
        """Build from nested plain values; raise `SettingsError` that names the key."""
        try:
            return msgspec.convert(tree, cls)
        except msgspec.ValidationError as error:
            raise SettingsError(str(objection(error))) from error

    def merged(self, changes: dict[str, dict[str, Any]]) -> Self:
        """Return these settings with `changes` (part -> key -> value) laid over them; None changes nothing."""
        tree = msgspec.to_builtins(self)
        for part, values in changes.items():
            tree[part] |= {key: value for key, value in values.items() if value is not None}
        return self.of(tree)
