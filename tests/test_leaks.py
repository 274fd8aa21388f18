"""The leak check finds what a test leaves behind, and only that."""

import os
import socket
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from contextlib import ExitStack
from multiprocessing import shared_memory
from pathlib import Path

import pytest

from tests.leaks import Census, end_processes, left_since

ROOT = Path(__file__).parents[1]
SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]
Leak = Callable[[ExitStack, Path], object]


def _child(stack: ExitStack, _runtime: Path) -> None:
    process = stack.enter_context(subprocess.Popen(SLEEP))
    stack.callback(process.kill)


def _thread(stack: ExitStack, _runtime: Path) -> None:
    end = threading.Event()
    thread = threading.Thread(target=end.wait, name="a thread left")
    thread.start()
    stack.callback(thread.join)
    stack.callback(end.set)


def _context(stack: ExitStack, _runtime: Path) -> None:
    import zmq

    context = stack.enter_context(zmq.Context())
    pull, push = (stack.enter_context(context.socket(kind)) for kind in (zmq.PULL, zmq.PUSH))
    push.connect(f"tcp://127.0.0.1:{pull.bind_to_random_port('tcp://127.0.0.1')}")
    push.send(b"")
    pull.recv()


def _descriptor(stack: ExitStack, _runtime: Path) -> None:
    stack.callback(os.close, os.open(__file__, os.O_RDONLY))


def _file(stack: ExitStack, runtime: Path) -> None:
    folder = runtime / "specpipe"
    folder.mkdir(mode=0o700, exist_ok=True)
    left = folder / "instance.json"
    left.touch()
    stack.callback(left.unlink)


def _memory(stack: ExitStack, _runtime: Path) -> None:
    memory = shared_memory.SharedMemory(create=True, size=64, name=f"specpipe-test-{os.getpid()}")
    stack.callback(memory.unlink)
    stack.callback(memory.close)


@pytest.mark.parametrize(
    ("leak", "named"),
    [
        (_child, "time.sleep(60)"),
        (_thread, "thread a thread left"),
        (lambda stack, _: stack.enter_context(socket.socket()), "socket:["),
        (_descriptor, "test_leaks.py"),
        (_context, "native thread ZMQbg"),
        (_file, "instance.json"),
        (_memory, "shared memory specpipe-test"),
    ],
    ids=["child", "thread", "socket", "file", "zmq context", "run folder", "shared memory"],
)
@pytest.mark.skipif(sys.platform != "linux", reason="descriptors and native threads are read from /proc")
def test_each_kind_of_leak_is_named_until_it_is_mended(leak: Leak, named: str, runtime: Path) -> None:
    """A thing that stays is named, and no longer once it is gone."""
    before = Census.take(runtime)
    with ExitStack() as stack:
        leak(stack, runtime)

        assert any(named in left for left in left_since(before, runtime, grace_s=0.0))

    assert left_since(before, runtime) == []


def test_an_orphan_is_found_by_the_runtime_folder_that_it_inherited(runtime: Path) -> None:
    """A grandchild whose parent is gone is still the test's."""
    before = Census.take(runtime)
    script = f"import subprocess; subprocess.Popen({SLEEP!r})"
    subprocess.run([sys.executable, "-c", script], check=True)

    assert any("time.sleep(60)" in left for left in left_since(before, runtime, grace_s=0.0))

    end_processes(before, runtime)

    assert left_since(before, runtime) == []


def test_a_child_that_nobody_waited_for_is_named(runtime: Path) -> None:
    """A zombie is a leak too."""
    before = Census.take(runtime)
    pid = os.posix_spawn(sys.executable, [sys.executable, "-c", ""], os.environ)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)

    assert left_since(before, runtime, grace_s=0.0) == [f"process {pid}: ended, but not waited for"]

    os.waitpid(pid, 0)


def test_a_test_that_leaks_fails_and_says_what(tmp_path: Path) -> None:
    """The fixture of conftest turns a leak into a failure of the very test that leaked."""
    (tmp_path / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text("utf-8"), "utf-8")
    (tmp_path / "test_sample.py").write_text(
        textwrap.dedent("""
            import os

            def test_leaks():
                os.open(__file__, os.O_RDONLY)

            def test_is_clean():
                pass
        """),
        "utf-8",
    )
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), str(tmp_path)]
    done = subprocess.run(
        command, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False
    )

    assert "2 passed, 1 error" in done.stdout
    assert "left behind:" in done.stdout
    assert "test_sample.py" in done.stdout
