"""Children end when the pipe to their supervisor closes."""

import subprocess
import sys

_ORDERLY = """
import sys, threading
from specpipe.lifeline import Lifeline
done = threading.Event()
line = Lifeline(0, done.set, grace_s=30)
print("watching", flush=True)
done.wait()
sys.exit(0 if line.lost else 1)
"""

_STUCK = """
import time
from specpipe.lifeline import Lifeline
Lifeline(0, last=lambda: print("swept", flush=True), grace_s=0.1)
print("watching", flush=True)
time.sleep(60)
"""

_FAILING = """
import time
from specpipe.lifeline import Lifeline
Lifeline(0, lambda: 1 / 0, grace_s=60)
print("watching", flush=True)
time.sleep(60)
"""


def _cut(script: str) -> tuple[int, str]:
    """Start `script`, wait until it watches, close its lifeline; return its exit status and last output."""
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as child:
        assert child.stdout is not None
        assert child.stdin is not None
        assert child.stdout.readline() == b"watching\n"
        child.stdin.close()
        rest = child.stdout.read().decode()
        return child.wait(30), rest


def test_a_cut_lifeline_ends_the_process_in_an_orderly_way() -> None:
    """The callback is called, and the process may end by itself within the grace."""
    assert _cut(_ORDERLY) == (0, "")


def test_a_process_that_is_stuck_ends_after_the_grace() -> None:
    """Where the main thread does not react, the last act is done and the process exits with 75."""
    assert _cut(_STUCK) == (75, "swept\n")


def test_a_failing_callback_does_not_keep_the_process_alive() -> None:
    """An error on the way out ends the process at once."""
    assert _cut(_FAILING) == (75, "")
