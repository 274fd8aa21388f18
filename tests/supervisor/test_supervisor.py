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
from specpipe.settings import ModelSettings, RecoverySettings, Settings, SpeculationSettings
from specpipe.supervisor.events import Event, GivenUp, Ready, Restarting
from specpipe.supervisor.ladder import Patience
from specpipe.supervisor.placement import Machine
from specpipe.supervisor.policy import RestartPolicy, Role
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


def _stay(instance: Supervisor, *, stopped: Role | None = None) -> None:
    """Stay until the instance ends, having stopped a role."""
    if stopped:
        os.kill(instance.pids[stopped], signal.SIGSTOP)
    while True:
        instance.wait(0.1)


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


@pytest.mark.parametrize("role", ["drafter", "verifier"])
def test_a_killed_worker_is_started_again(stage: Stage, notes: Path, role: Role) -> None:
    """The service goes on, and the coordinator hears which process died, and that it was not final."""
    with stage.play() as instance:
        first = instance.pids[role]
        os.kill(first, signal.SIGKILL)
        stage.await_event(instance, Ready, 4)

        assert instance.pids[role] != first

    assert _gone(notes) == [[role, first, False, "it was ended by signal 9 (Killed)"]]


def test_a_drafter_beyond_its_budget_is_given_up(stage: Stage, notes: Path) -> None:
    """Restarted twice, then no more; the verifier serves alone and everyone is told."""
    with stage.play({"drafter": "brief"}) as instance:
        stage.await_event(instance, GivenUp)
        instance.check()

    assert sum(isinstance(event, Restarting) for event in stage.events) == 2
    assert [final for _, _, final, _ in _gone(notes)] == [False, False, True]


def test_a_verifier_beyond_its_budget_ends_the_instance(stage: Stage, notes: Path) -> None:
    """Restarted twice; then status 70 and one sentence with the first cause, and everyone is told (case D04)."""
    sentence = r"^the verifier died \(3 times in a short time, and is not started again\): it was ended by signal 9"
    with pytest.raises(WorkerError, match=sentence) as caught, stage.play({"verifier": "brief"}) as instance:
        _stay(instance)

    assert caught.value.exit_code == 70
    assert [(role, final) for role, _, final, _ in _gone(notes)] == [("verifier", final) for final in (0, 0, 1)]


@pytest.mark.parametrize("role", ["drafter", "verifier"])
def test_a_worker_that_crashes_once_at_the_start_is_tried_again(stage: Stage, role: Role) -> None:
    """One bad start is not the end."""
    with stage.play({role: "once"}) as instance:
        assert role in instance.pids


@pytest.mark.parametrize("role", ["drafter", "verifier"])
def test_a_worker_that_serves_and_gives_no_sign_of_life_is_replaced(stage: Stage, role: Role) -> None:
    """Whether it hangs or was never heard of: it would be of no use for ever."""
    settings = Settings(recovery=RecoverySettings(silence_s=1.0))
    with stage.play({role: "unknown"}, settings=settings) as instance:
        stage.await_event(instance, Restarting)

    (first, *_) = [event for event in stage.events if isinstance(event, Restarting)]
    assert (first.role, first.reason) == (role, "it gave no sign of life for 1 s")


def test_nobody_is_killed_who_gives_signs_of_life(stage: Stage) -> None:
    """Over twice the time that is allowed."""
    with stage.play(settings=Settings(recovery=RecoverySettings(silence_s=1.0))) as instance:
        until = now() + 2.0
        while now() < until:
            instance.wait(0.1)

    assert not any(isinstance(event, Restarting) for event in stage.events)


def test_a_coordinator_that_hangs_ends_the_instance(stage: Stage) -> None:
    """It is killed, so that nobody waits for it; status 70 and the reason."""
    sentence = r"^the coordinator died: it gave no sign of life for 1 s$"
    settings = Settings(recovery=RecoverySettings(silence_s=1.0))
    with pytest.raises(WorkerError, match=sentence), stage.play(settings=settings) as instance:
        _stay(instance, stopped="coordinator")


def test_a_worker_that_is_not_ready_again_in_time_is_given_another_try(stage: Stage) -> None:
    """It has served, so that this is no reason to end; in the end its budget is spent."""
    patience = Patience(start_worker_s=1.0, halt_s=5, terminate_s=0.3)
    with stage.play({"drafter": "stuck"}, patience=patience) as instance:
        os.kill(instance.pids["drafter"], signal.SIGKILL)
        stage.await_event(instance, GivenUp)

    (last,) = [event for event in stage.events if isinstance(event, GivenUp)]
    assert last.reason == "it was not ready within 1 s"


@pytest.mark.parametrize("role", ["coordinator", "verifier", "drafter"])
def test_a_role_that_refuses_ends_the_start_with_its_cause(stage: Stage, role: str) -> None:
    """Status 64 is the user's to mend: its sentence comes out as it was said, and nothing is tried again."""
    with pytest.raises(UsageError, match=f"^the {role} cannot read its model$"), stage.play({role: "refuse"}):
        pytest.fail("it started")

    assert not any(isinstance(event, Restarting) for event in stage.events)


@pytest.mark.parametrize("role", ["drafter", "verifier"])
def test_a_worker_that_always_crashes_ends_the_start_after_few_tries(stage: Stage, role: Role) -> None:
    """It is not restarted for ever (case D25)."""
    with pytest.raises(WorkerError, match=rf"^the {role} did not start \(3 times"), stage.play({role: "crash"}):
        pytest.fail("it started")

    assert sum(isinstance(event, Restarting) for event in stage.events) == 2


def _kill(instance: Supervisor, pids: dict[str, int]) -> None:
    """Start the instance, kill the coordinator, and stay until the instance ends for it."""
    with instance:
        pids.update((str(name), pid) for name, pid in instance.pids.items())
        os.kill(pids["coordinator"], signal.SIGKILL)
        _stay(instance)


def test_the_death_of_the_coordinator_ends_all(stage: Stage) -> None:
    """The cause is told once, with status 70, and the others are ended."""
    pids: dict[str, int] = {}

    with pytest.raises(SpecpipeError, match=r"^the coordinator died: it was ended by signal 9") as caught:
        _kill(stage.play(), pids)

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


def test_what_a_process_leaves_while_it_ends_is_removed(stage: Stage) -> None:
    """Sockets and files that come after the folder was first removed go as well."""
    with stage.play({"drafter": "messy"}, patience=Patience(halt_s=0.2, terminate_s=2.0)) as instance:
        folder = instance.folder

    assert not folder.exists()


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
