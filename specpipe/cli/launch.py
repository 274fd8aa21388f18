"""`specpipe launch`: an instance that stays until it is told to end."""

from pathlib import Path
from typing import Any

import click

from specpipe.cli.board import Board, Journal
from specpipe.cli.instances import own_instance, supervised
from specpipe.cli.models import make_ready
from specpipe.cli.options import place_options, refuse_unwritable, settings_of, shared_options, trace_option
from specpipe.cli.printing import waiting
from specpipe.client.client import Client
from specpipe.clock import now
from specpipe.models.device import count_gpus
from specpipe.supervisor.machine import survey
from specpipe.supervisor.placement import place
from specpipe.supervisor.signals import Interrupts
from specpipe.supervisor.supervisor import Supervisor

_REFRESH_S = 0.5


@click.command("launch")
@shared_options
@place_options
@click.option("--json", "as_json", is_flag=True, help="Print what happens as JSON, an object a line.")
@trace_option
def command(*, as_json: bool, trace: Path | None, **flags: Any) -> None:
    """Start an instance, and keep it until Ctrl-C."""
    settings = settings_of(flags)
    refuse_unwritable(trace)
    place(settings, survey(count_gpus()))
    with Interrupts() as interrupts:
        with waiting("Getting the models ready"):
            make_ready(settings)
        with Journal() if as_json else Board() as board:
            supervisor = supervised(settings, interrupts, trace=trace, report=board.hear)
            board.seat(supervisor.placement)
            with own_instance(supervisor) as client:
                board.serve(supervisor.clients_address)
                _stay(supervisor, client, board)


def _stay(supervisor: Supervisor, client: Client, board: Board | Journal) -> None:
    """Show what the instance does, until it ends or a signal ends this."""
    while True:
        supervisor.wait(_REFRESH_S)
        board.show(client.status(), now())
