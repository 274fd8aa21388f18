"""How a role is asked to end."""

import os
import signal

import pytest

from specpipe.errors import UsageError
from specpipe.process.ending import Ending
from specpipe.words.messages import Stop


def test_a_signal_and_a_word_set_the_flag_and_wake_the_loop() -> None:
    """However often it is asked, there is one thing to read."""
    with Ending() as ending:
        asked = [ending.asked]
        os.kill(os.getpid(), signal.SIGTERM)
        asked.append(ending.asked)
        ending.obey(Stop())

        assert asked == [False, True]
        assert os.read(ending.descriptor, 16) == b"!"


def test_a_worker_that_cannot_be_used_is_told_why() -> None:
    """The coordinator's sentence becomes the worker's last line, with the status for a wrong configuration."""
    with Ending() as ending, pytest.raises(UsageError, match="the tokenizers differ"):
        ending.obey(Stop(reason="the tokenizers differ"))
