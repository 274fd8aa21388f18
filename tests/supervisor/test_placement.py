"""Who gets which device, cores and threads."""

from typing import Any

import pytest

from specpipe.errors import DeviceError
from specpipe.settings import ModelSettings, Settings, SpeculationSettings
from specpipe.supervisor.placement import Machine, Placement, Seat, place


def _placed(machine: Machine, **parts: Any) -> Placement:
    return place(Settings(**parts), machine)


def _model(name: str = "some", **places: Any) -> ModelSettings:
    return ModelSettings(name, **places)


def test_two_cores_are_one_for_each_worker() -> None:
    """The verifier has a core to itself; the coordinator is the drafter's guest, at lower priority."""
    placed = _placed(Machine((0, 1)))

    assert placed.verifier == Seat("cpu", (0,), 1)
    assert placed.drafter == Seat("cpu", (1,), 1)
    assert placed.coordinator == Seat("cpu", (1,), 0, nice=5)


def test_one_core_is_shared() -> None:
    """On one core both workers run with one thread."""
    placed = _placed(Machine((3,)))

    assert placed.verifier == placed.drafter == Seat("cpu", (3,), 1)


@pytest.mark.parametrize(("cores", "verifier"), [(2, 1), (3, 2), (4, 3), (8, 6), (16, 12)])
def test_the_verifier_has_about_three_quarters(cores: int, verifier: int) -> None:
    """The cores are split without overlap, and the drafter has one at least."""
    placed = _placed(Machine(tuple(range(cores))))

    assert placed.drafter is not None
    assert len(placed.verifier.cores) == verifier
    assert placed.verifier.cores + placed.drafter.cores == tuple(range(cores))


def test_threads_are_capped_on_large_machines() -> None:
    """More threads than a small model can use only cost."""
    placed = _placed(Machine(tuple(range(128))))

    assert placed.drafter is not None
    assert (placed.verifier.threads, placed.drafter.threads) == (16, 8)


@pytest.mark.parametrize(
    "settings",
    [Settings(speculation=SpeculationSettings(mode="target")), Settings(draft=ModelSettings("none"))],
)
def test_without_a_drafter_the_verifier_has_all_cores(settings: Settings) -> None:
    """Target mode, or no draft, leaves nothing idle."""
    placed = place(settings, Machine((0, 1, 2)))

    assert placed.drafter is None
    assert placed.verifier == Seat("cpu", (0, 1, 2), 3)
    assert placed.coordinator.cores == (0, 1, 2)


def test_named_threads_win() -> None:
    """Naming the threads of one worker leaves the other the rest."""
    machine = Machine((0, 1, 2, 3))
    one = _placed(machine, target=_model(threads=1))
    other = _placed(machine, draft=_model(threads=2))

    assert one.drafter is not None
    assert other.drafter is not None
    assert (one.verifier.threads, one.drafter.cores) == (1, (1, 2, 3))
    assert (other.verifier.cores, other.drafter.threads) == ((0, 1), 2)


def test_named_cores_win() -> None:
    """Naming the cores of one worker leaves the other the rest, or all where there is no rest."""
    machine = Machine((0, 1, 2, 3))
    some = _placed(machine, target=_model(cores=(3,)))
    everything = _placed(machine, draft=_model(cores=(0, 1, 2, 3)))

    assert some.drafter is not None
    assert (some.verifier.cores, some.drafter.cores) == ((3,), (0, 1, 2))
    assert everything.verifier.cores == (0, 1, 2, 3)


def test_gpus_are_taken_where_there_are_any() -> None:
    """Two GPUs are one for each; a single one is the target's, and the draft has the cores."""
    two, one = _placed(Machine((0, 1), gpus=2)), _placed(Machine((0, 1), gpus=1))

    assert two.drafter is not None
    assert (two.verifier.device, two.drafter.device) == ("cuda:0", "cuda:1")
    assert one.drafter == Seat("cpu", (0, 1), 2)
    assert one.verifier == Seat("cuda:0", (), 1)


def test_a_named_device_wins() -> None:
    """A named GPU is used, and cpu keeps a worker off the GPUs."""
    placed = _placed(Machine((0, 1), gpus=2), target=_model(device="cuda:1"), draft=_model(device="cpu"))

    assert placed.drafter is not None
    assert (placed.verifier.device, placed.drafter.device) == ("cuda:1", "cpu")


def test_what_computes_nothing_takes_no_gpu() -> None:
    """Prompt lookup and simulated devices stay on the CPU."""
    placed = _placed(Machine((0, 1), gpus=2), target=_model("simulated"), draft=_model("ngram"))

    assert placed.drafter is not None
    assert (placed.verifier.device, placed.drafter.device) == ("cpu", "cpu")


@pytest.mark.parametrize(
    ("gpus", "places", "sentence"),
    [
        (0, {"device": "cuda:0"}, r"there is no GPU 0: this machine has no GPU"),
        (0, {"device": "cuda"}, r"there is no GPU 0"),
        (1, {"device": "cuda:3"}, r"there is no GPU 3: this machine has one GPU"),
        (2, {"device": "cuda:-1"}, r"no device"),
        (0, {"cores": (7,)}, r"there is no core 7"),
    ],
)
@pytest.mark.parametrize("part", ["target", "draft"])
def test_what_does_not_exist_is_refused(part: str, gpus: int, places: dict[str, Any], sentence: str) -> None:
    """A device or core that is not there is named before anything is started."""
    with pytest.raises(DeviceError, match=sentence):
        _placed(Machine((0, 1), gpus), **{part: _model(**places)})


def test_the_seats_are_written_into_the_settings() -> None:
    """Workers read their device, cores and threads where they read everything else."""
    settings = Settings()
    seated = place(settings, Machine((0, 1))).seated(settings)

    assert (seated.target.device, seated.target.cores, seated.target.threads) == ("cpu", (0,), 1)
    assert (seated.draft.device, seated.draft.cores, seated.draft.threads) == ("cpu", (1,), 1)
    assert seated.target.name == settings.target.name
