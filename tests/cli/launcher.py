"""The real command line over stand-in roles: `python -m tests.cli.launcher 'drafter=deaf' -- launch --json`."""

import sys
from pathlib import Path
from typing import Any

from specpipe.cli import instances
from specpipe.cli.main import run
from specpipe.supervisor.ladder import Patience
from specpipe.supervisor.supervisor import Supervisor
from tests.supervisor.fakes import command


def with_stand_ins(behaviours: dict[str, str]) -> None:
    """Have all instances of this process made of stand-ins."""

    def supervisor(*words: Any, **options: Any) -> Supervisor:
        def folder() -> Path:
            return instance.folder

        patience = Patience(halt_s=1.0, terminate_s=0.5)
        instance = Supervisor(*words, command=command(folder, **behaviours), patience=patience, **options)
        return instance

    vars(instances)["Supervisor"] = supervisor


if __name__ == "__main__":
    split = sys.argv.index("--")
    with_stand_ins(dict(pair.split("=") for pair in sys.argv[1:split]))
    sys.exit(run(sys.argv[split + 1 :]))
