"""Everything that specpipe raises on purpose, and the exit code that each becomes.

SpecpipeError
├── UsageError            64  what the user asked for cannot be done as asked
│   ├── SettingsError         a setting is unknown, mistyped or out of range
│   ├── ModelError            a model cannot be found, read, or served by this engine
│   ├── DeviceError           a device was named that this machine does not have
│   └── RequestError          one request is refused; nobody else notices
├── PeerError             69  another process of the instance cannot be reached
├── WorkerError           70  a worker failed in the middle of its work
└── BusyError             75  try again later
"""


class SpecpipeError(Exception):
    """Base of all errors whose message is meant for the user: one sentence that says what to do."""

    exit_code = 70


class UsageError(SpecpipeError):
    """The command or its configuration cannot be carried out as given."""

    exit_code = 64


class SettingsError(UsageError):
    """A setting is unknown, has the wrong type, or is out of range."""


class ModelError(UsageError):
    """A model, its tokenizer or a pair of them cannot be served."""


class DeviceError(UsageError):
    """A device was named that this machine does not have."""


class RequestError(UsageError):
    """One request cannot be served as asked."""


class PeerError(SpecpipeError):
    """Another process of the instance did not answer in time."""

    exit_code = 69


class WorkerError(SpecpipeError):
    """A worker stopped in the middle of its work."""

    exit_code = 70


class BusyError(SpecpipeError):
    """The instance has no room for another request now."""

    exit_code = 75


class FrameError(SpecpipeError):
    """A message from a peer is malformed; it is counted and dropped, never fatal."""
