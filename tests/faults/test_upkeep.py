"""What an instance keeps, burns and shows while it runs."""

import os
import stat
import time

import psutil

from specpipe.client.asking import Options
from tests.faults.conftest import Served
from tests.faults.stranger import comes_true
from tests.process.instances import gather

TOKENS = 1200
LONG = Options(max_tokens=TOKENS, ignore_eos=True)
SEQUENTIAL = Options(mode="sequential", max_tokens=30, ignore_eos=True)
MOST_GROWTH = 8 << 20
IDLE_S = 2.0
MOST_SHARE = 0.05


def _processes(served: Served) -> dict[str, psutil.Process]:
    return {role: psutil.Process(pid) for role, pid in served.instance.supervisor.pids.items()}


def test_memory_returns_to_its_level_after_each_long_answer(served: Served) -> None:
    """Nothing is kept of tokens that were told, in any process (case C05)."""
    levels: list[dict[str, int]] = []
    for _ in range(4):
        assert len(served.instance.tell([5, 6, 7], LONG).tokens) == TOKENS
        levels.append({role: process.memory_info().rss for role, process in _processes(served).items()})

    grown = {role: levels[-1][role] - levels[1][role] for role in levels[0]}
    assert max(grown.values()) < MOST_GROWTH, grown


def test_a_drafter_that_stands_still_fills_nobodys_memory(served: Served) -> None:
    """What it does not take is dropped; when it goes on it is heard again (case D11)."""
    processes = _processes(served)
    before = {role: process.memory_info().rss for role, process in processes.items()}
    processes["drafter"].suspend()
    try:
        started = [served.instance.start([5, 6, number], LONG) for number in range(4)]
        assert [len(gather(answers).tokens) for answers in started] == [TOKENS] * 4
    finally:
        processes["drafter"].resume()
    grown = {role: process.memory_info().rss - before[role] for role, process in processes.items()}

    assert max(grown.values()) < MOST_GROWTH, grown
    assert served.is_well(1)
    assert comes_true(lambda: served.instance.tell([5, 6, 7], SEQUENTIAL).stats.accepted_tokens > 0)


def test_waiting_costs_next_to_nothing(served: Served) -> None:
    """No process polls: each takes less than a twentieth of a core while nothing is asked (case C07)."""
    processes = _processes(served)
    before = {role: sum(process.cpu_times()[:2]) for role, process in processes.items()}
    time.sleep(IDLE_S)
    taken = {role: sum(process.cpu_times()[:2]) - before[role] for role, process in processes.items()}

    assert max(taken.values()) < MOST_SHARE * IDLE_S, taken
    assert served.is_well(1)


def test_nobody_else_may_open_the_sockets(served: Served) -> None:
    """The run folder has a name that cannot be guessed, is the user's own, and lets nobody else in (case F10)."""
    folder = served.instance.supervisor.folder
    for place in (folder, folder.parent):
        facts = place.lstat()
        assert stat.S_ISDIR(facts.st_mode)
        assert facts.st_mode & 0o777 == 0o700
        assert facts.st_uid == os.geteuid()
    sockets = [path for path in folder.iterdir() if stat.S_ISSOCK(path.lstat().st_mode)]
    assert {path.name.rpartition("-")[0] for path in sockets} == {"control", "clients", "edges", "verdicts"}
    assert len(folder.name) == 8
