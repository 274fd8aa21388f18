"""`specpipe bench`: measurements, each a command of its own."""

import click

from specpipe.cli.simulate import simulate


@click.group("bench")
def command() -> None:
    """Measure the pipeline."""


command.add_command(simulate)
