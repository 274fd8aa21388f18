"""An instance of stand-in roles, from start to end."""

import json
import os
import signal
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest

from specpipe.clock import now
from specpipe.errors import PeerError, SpecpipeError, UsageError, WorkerError
from specpipe.links.folder import running
from specpipe.models.device import choose_dtype
from specpipe.settings import ModelSettings, Settings, SpeculationSettings
from specpipe.supervisor.events import Event, GivenUp, Ready, Restarting
from specpipe.supervisor.ladder import Patience
from specpipe.supervisor.placement import Machine
from specpipe.supervisor.policy import RestartPolicy
from specpipe.supervisor.supervisor import Supervisor
from tests.supervisor.fakes import command


@dataclass
class Stage:
    """Where stand-ins are started with the behaviours of a test; `events` is what was reported."""

    events: list[Event] = field(default_factory=list)
    instance: Supervisor | None = None

    def play(
        self,
        roles: dict[str, str] | None = None,
        *,
        settings: Settings | None = None,
        patience: Patience | None = None,
        trace: Path | None = None,
    ) -> Supervisor:
        """Return the instance, not yet entered; `roles` are the behaviours."""
        instance = Supervisor(
            settings or Settings(),
            Machine((0, 1)),
            report=self.events.append,
            command=command(lambda: instance.folder, **roles or {}),
            policy=RestartPolicy(budget=2, first_s=0.01),
            patience=patience or Patience(halt_s=5, terminate_s=0.3),
            trace=trace,
        )
        return instance

    def await_event(self, instance: Supervisor, kind: type[Event], count: int = 1) -> None:
        """Wait until `count` events of this kind were reported."""
        deadline = now() + 30
        while sum(isinstance(event, kind) for event in self.events) < count:
            assert now() < deadline, self.events
            instance.wait(0.02)


@pytest.fixture
def stage() -> Stage:
    """Give a stage."""
    return Stage()


def _gone(notes: Path) -> list[list[Any]]:
    return [json.loads(line) for line in (notes / "gone.jsonl").read_text("utf-8").splitlines()]


def test_an_instance_starts_registers_and_leaves_nothing(stage: Stage) -> None:
    """All are ready on entry, clients find it, and after it neither process nor folder is there."""
    with stage.play() as instance:
        pids = instance.pids
        registered = running()
        folder = instance.folder

    assert {event.role for event in stage.events if isinstance(event, Ready)} == {"coordinator", "verifier", "drafter"}
    assert [each.clients for each in registered] == [instance.clients_address]
    assert (registered[0].target, registered[0].draft, registered[0].dtype) == (
        "smollm2",
        "auto",
        choose_dtype("auto", "cpu"),
    )
    assert not any(psutil.pid_exists(pid) for pid in pids.values())
    assert not folder.exists()


@pytest.mark.parametrize(
    "settings",
    [Settings(speculation=SpeculationSettings(mode="target")), Settings(draft=ModelSettings("none"))],
)
def test_without_a_draft_no_drafter_is_started(stage: Stage, settings: Settings) -> None:
    """Target mode and no draft are two processes."""
    with stage.play(settings=settings) as instance:
        assert set(instance.pids) == {"coordinator", "verifier"}


def test_a_killed_drafter_is_started_again(stage: Stage, notes: Path) -> None:
    """The service goes on, and the coordinator hears that the death was not final."""
    with stage.play() as instance:
        first = instance.pids["drafter"]
        os.kill(first, signal.SIGKILL)
        stage.await_event(instance, Ready, 4)

        assert instance.pids["drafter"] != first

    assert _gone(notes) == [["drafter", False, "it was ended by signal 9 (Killed)"]]


def test_a_drafter_beyond_its_budget_is_given_up(stage: Stage, notes: Path) -> None:
    """Restarted twice, then no more; the verifier serves alone and everyone is told."""
    with stage.play({"drafter": "brief"}) as instance:
        stage.await_event(instance, GivenUp)
        instance.check()

    assert sum(isinstance(event, Restarting) for event in stage.events) == 2
    assert [final for _, final, _ in _gone(notes)] == [False, False, True]


def test_a_drafter_that_crashes_once_at_the_start_is_tried_again(stage: Stage) -> None:
    """One bad start is not the end."""
    with stage.play({"drafter": "once"}) as instance:
        assert "drafter" in instance.pids


@pytest.mark.parametrize("role", ["coordinator", "verifier", "drafter"])
def test_a_role_that_refuses_ends_the_start_with_its_cause(stage: Stage, role: str) -> None:
    """Status 64 is the user's to mend: its sentence comes out as it was said, and nothing is tried again."""
    with pytest.raises(UsageError, match=f"^the {role} cannot read its model$"), stage.play({role: "refuse"}):
        pytest.fail("it started")

    assert not any(isinstance(event, Restarting) for event in stage.events)


def test_a_drafter_that_always_crashes_ends_the_start_after_few_tries(stage: Stage) -> None:
    """It is not restarted for ever."""
    with pytest.raises(WorkerError, match=r"^the drafter did not start"), stage.play({"drafter": "crash"}):
        pytest.fail("it started")

    assert sum(isinstance(event, Restarting) for event in stage.events) == 2


def _kill(instance: Supervisor, role: str, pids: dict[str, int]) -> None:
    """Start the instance, kill one role, and stay until the instance ends for it."""
    with instance:
        pids.update((str(name), pid) for name, pid in instance.pids.items())
        os.kill(pids[role], signal.SIGKILL)
        while True:
            instance.wait(0.1)


@pytest.mark.parametrize("role", ["coordinator", "verifier"])
def test_the_death_of_one_that_is_needed_ends_all(stage: Stage, role: str) -> None:
    """The cause is told once, with status 70, and the others are ended."""
    pids: dict[str, int] = {}

    with pytest.raises(SpecpipeError, match=rf"^the {role} died: it was ended by signal 9") as caught:
        _kill(stage.play(), role, pids)

    assert caught.value.exit_code == 70
    assert not any(psutil.pid_exists(pid) for pid in pids.values())


def test_a_role_that_is_never_ready_is_not_waited_for_for_ever(stage: Stage) -> None:
    """The message names the role and the time."""
    instance = stage.play({"verifier": "never"}, patience=Patience(start_worker_s=0.2))
    with pytest.raises(PeerError, match=r"^the verifier was not ready within 0.2 s"), instance:
        pytest.fail("it started")


def test_the_deaf_are_killed(stage: Stage) -> None:
    """One that ignores Stop and SIGTERM is ended all the same, well within five seconds."""
    with stage.play({"drafter": "deaf"}, patience=Patience(halt_s=0.2, terminate_s=0.2)) as instance:
        pids = instance.pids

    assert not any(psutil.pid_exists(pid) for pid in pids.values())


def test_hurry_kills_at_once(stage: Stage) -> None:
    """A second Ctrl-C does not wait for anybody, deaf or not."""
    deaf = {"drafter": "deaf", "verifier": "deaf"}
    with stage.play(deaf, patience=Patience(halt_s=100, terminate_s=100)) as instance:
        instance.hurry()


def test_the_trace_of_all_roles_is_written_at_the_end(stage: Stage, tmp_path: Path) -> None:
    """The file has the events of both workers on one axis."""
    target = tmp_path / "trace.json"
    with stage.play(trace=target):
        pass

    events = json.loads(target.read_text("utf-8"))["traceEvents"]
    assert {event["args"]["name"] for event in events if event["name"] == "process_name"} == {"drafter", "verifier"}
