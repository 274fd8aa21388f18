"""`specpipe COMMAND`: finds the command, and turns whatever ends it into one line and an exit status."""

import logging
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn

import click

from specpipe.cli.commands import Commands, Unread
from specpipe.errors import SpecpipeError
from specpipe.log import configure
from specpipe.supervisor.signals import Interrupted

BAD_USAGE = 64
BUG = 70
INTERRUPTED = 130
BROKEN_PIPE = 141


def main() -> NoReturn:
    """Run the command of `sys.argv` and exit with its status."""
    # Until a command has something to clean up, Ctrl-C ends the process at once; an exception could be swallowed
    # by whatever is being imported.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(run(sys.argv[1:]))


def run(words: Sequence[str]) -> int:
    """Run one command and return its exit status; no error comes out."""
    try:
        configure("specpipe")
        status = int(group.main(args=list(words), prog_name="specpipe", standalone_mode=False) or 0)
    except click.ClickException as error:
        error.show()
        status = BAD_USAGE
    except click.Abort:
        status = INTERRUPTED
    except Unread:
        _silence_output()
        status = BROKEN_PIPE
    except SpecpipeError as error:
        status = _told(error, str(error), error.exit_code)
    except Interrupted as error:
        status = error.exit_code
    except Exception as error:  # noqa: BLE001 - the last resort of a process: one line, and a status that says bug
        status = _told(error, f"unexpected {type(error).__name__}: {error}; SPECPIPE_LOG=DEBUG shows where", BUG)
    return status


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="specpipe-engine", prog_name="specpipe")
def group() -> None:
    """Make a language model answer faster without changing a word of what it says."""


def _told(error: Exception, sentence: str, status: int) -> int:
    """Say the cause in one line; the supervisor knows such a line by its beginning."""
    logging.getLogger("specpipe.cli").debug("the command failed", exc_info=error)
    with suppress(OSError):
        click.echo(f"specpipe: {' '.join(sentence.split())}", err=True)
    return status


def _silence_output() -> None:
    """Nobody reads standard output any more, so what is still buffered must not fail at the exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
