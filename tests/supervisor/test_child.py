"""What a child says is cut into lines, and its end explains itself."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from specpipe.supervisor.child import MAX_LINE, Child, Lines


def test_lines_are_cut_wherever_the_pieces_were() -> None:
    """Pieces end anywhere; the rest is completed by the end."""
    lines = Lines()

    assert [lines.feed(piece) for piece in (b"on", b"e\ntwo\nth", b"ree", b"")] == [[], ["one", "two"], [], ["three"]]


def test_a_line_without_end_is_bounded() -> None:
    """A child that writes without a newline does not fill the supervisor's memory."""
    (line,) = Lines().feed(b"x" * (MAX_LINE + 1))

    assert len(line) == MAX_LINE


@contextmanager
def _ended(script: str) -> Iterator[Child]:
    """Give a child that ran `script` to its end, all that it wrote taken."""
    child = Child("drafter", [sys.executable, "-c", script], {}, 0.0)
    try:
        child.process.wait(30)
        for pipe, take in child.pipes():
            take(pipe.read())
            take(b"")
        yield child
    finally:
        child.close()


def test_ready_is_the_announcement_of_its_own_role() -> None:
    """Other output means nothing, JSON or not."""
    script = """print('hello'); print('[]'); print('{"ready": "verifier"}'); print('{"ready": "drafter", "pid": 1}')"""
    with _ended(script) as child:
        assert child.ready == {"ready": "drafter", "pid": 1}


def test_the_first_cause_is_the_line_that_names_it() -> None:
    """What comes after the final line, from a library's exit, does not bury it; it is not passed on either."""
    script = (
        "import sys; print('specpipe: no such model', file=sys.stderr); print('bye', file=sys.stderr); sys.exit(64)"
    )
    with _ended(script) as child:
        assert child.reason() == "no such model"
        assert child.status == 64


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("raise RuntimeError('boom')", "RuntimeError: boom"),
        ("raise SystemExit(3)", "it ended with status 3"),
        ("import os; os.kill(os.getpid(), 9)", "it was ended by signal 9 (Killed)"),
    ],
)
def test_without_a_final_line_the_end_is_told_as_it_was(script: str, reason: str) -> None:
    """A traceback's last line, the status, or the signal."""
    with _ended(script) as child:
        assert child.reason() == reason


def test_one_that_is_condemned_ends_for_the_reason_that_was_given() -> None:
    """Also where it is stopped and can take no signal but one."""
    child = Child("drafter", [sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)"], {}, 0.0)
    try:
        os.waitid(os.P_PID, child.pid, os.WSTOPPED | os.WNOWAIT)
        child.condemn("it hangs")
        child.process.wait(30)

        assert (child.status, child.reason()) == (-signal.SIGKILL, "it hangs")
    finally:
        child.close()


def test_one_that_has_ended_keeps_its_own_reason() -> None:
    """Whoever comes too late to kill it changes nothing."""
    with _ended("raise SystemExit(3)") as child:
        child.condemn("it hangs")

        assert child.reason() == "it ended with status 3"
