"""Which device, cores and threads each role gets. Pure: what the machine has is handed in."""

from dataclasses import dataclass

from specpipe.errors import DeviceError
from specpipe.models.device import choose_device
from specpipe.settings import ModelSettings, Settings

VERIFIER_THREADS = 16
DRAFTER_THREADS = 8
COORDINATOR_NICE = 5
_WITHOUT_DEVICE = ("none", "ngram", "simulated")


@dataclass(frozen=True, slots=True)
class Machine:
    """What may be used: the cores of this process's affinity, and the number of GPUs."""

    cores: tuple[int, ...]
    gpus: int = 0


@dataclass(frozen=True, slots=True)
class Seat:
    """Where one role runs. No cores: wherever the system likes. No threads: it computes nothing."""

    device: str = "cpu"
    cores: tuple[int, ...] = ()
    threads: int = 0
    nice: int = 0


@dataclass(frozen=True, slots=True)
class Placement:
    """The seats of an instance; without a drafter that seat is None."""

    coordinator: Seat
    verifier: Seat
    drafter: Seat | None

    def seated(self, settings: Settings) -> Settings:
        """Return the settings with devices, cores and threads as placed."""
        seats = {"target": self.verifier} | ({"draft": self.drafter} if self.drafter else {})
        return settings.merged({part: _places(seat) for part, seat in seats.items()})


def drafts(settings: Settings) -> bool:
    """Return whether the instance has a drafter at all."""
    return settings.speculation.mode != "target" and settings.draft.name != "none"


def place(settings: Settings, machine: Machine) -> Placement:
    """Return the placement; explicit devices, cores and threads win over what would be chosen.

    Raises `DeviceError` where a device or a core does not exist.
    """
    target, draft = settings.target, settings.draft
    _check(target, machine)
    if not drafts(settings):
        verifier = _alone(target, _device(target, machine, 0), machine.cores, VERIFIER_THREADS)
        return Placement(Seat(cores=verifier.cores, nice=COORDINATOR_NICE), verifier, None)
    _check(draft, machine)
    verifier, drafter = _pair(target, draft, machine)
    return Placement(Seat(cores=drafter.cores, nice=COORDINATOR_NICE), verifier, drafter)


def _pair(target: ModelSettings, draft: ModelSettings, machine: Machine) -> tuple[Seat, Seat]:
    devices = _device(target, machine, 0), _device(draft, machine, 1)
    if devices != ("cpu", "cpu"):
        return (
            _alone(target, devices[0], machine.cores, VERIFIER_THREADS),
            _alone(draft, devices[1], machine.cores, DRAFTER_THREADS),
        )
    ours, theirs = _split(target, draft, machine.cores)
    return (
        Seat("cpu", ours, target.threads or min(len(ours), VERIFIER_THREADS)),
        Seat("cpu", theirs, draft.threads or min(len(theirs), DRAFTER_THREADS)),
    )


def _alone(model: ModelSettings, device: str, cores: tuple[int, ...], most: int) -> Seat:
    """Return the seat of a worker that shares its device with no other worker."""
    if device != "cpu":
        return Seat(device, model.cores, model.threads or 1)
    cores = model.cores or cores
    return Seat(device, cores, model.threads or min(len(cores), most))


def _split(target: ModelSettings, draft: ModelSettings, cores: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Return the verifier's and the drafter's cores: apart wherever there is more than one."""
    if target.cores or draft.cores:
        taken = {*target.cores, *draft.cores}
        free = tuple(core for core in cores if core not in taken) or cores
        return target.cores or free, draft.cores or free
    if len(cores) == 1:
        return cores, cores
    count = _share(target.threads, draft.threads, len(cores))
    return cores[:count], cores[count:]


def _share(target_threads: int, draft_threads: int, cores: int) -> int:
    """Return how many of `cores` (2 or more) the verifier gets: about three quarters, and one less than all."""
    wanted = target_threads or (cores - draft_threads if draft_threads else round(cores * 3 / 4))
    return max(1, min(wanted, cores - 1))


def _device(model: ModelSettings, machine: Machine, turn: int) -> str:
    """Return where a model runs: the `turn`-th GPU if there is one, unless a device was named."""
    device = choose_device(model.device, machine.gpus, turn)
    return "cpu" if model.name in _WITHOUT_DEVICE else device


def _check(model: ModelSettings, machine: Machine) -> None:
    for core in model.cores:
        if core not in machine.cores:
            raise DeviceError(f"there is no core {core} to use: this process may use {sorted(machine.cores)}")


def _places(seat: Seat) -> dict[str, object]:
    return {"device": seat.device, "threads": seat.threads, "cores": seat.cores}
