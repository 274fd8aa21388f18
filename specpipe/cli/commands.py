"""The table of the commands. Help reads the table; a command's module is loaded when it is called."""

from dataclasses import dataclass
from importlib import import_module

import click


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a command lives, and what the overview says of it; without words it is not in the overview."""

    module: str
    words: str = ""


TABLE = {
    "generate": Entry("specpipe.cli.generate", "Answer one prompt."),
    "launch": Entry("specpipe.cli.launch", "Start an instance that stays, for quick answers."),
    "status": Entry("specpipe.cli.status", "Show the running instances."),
    "bench": Entry("specpipe.cli.bench", "Measure the pipeline on simulated devices."),
    "coordinator": Entry("specpipe.cli.coordinator"),
    "drafter": Entry("specpipe.cli.drafter"),
    "verifier": Entry("specpipe.cli.verifier"),
}


class Commands(click.Group):
    """A group whose commands are the `command` of the modules in `TABLE`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands of the overview."""
        del ctx
        return [name for name, entry in TABLE.items() if entry.words]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command, or return None if there is none of this name."""
        del ctx
        entry = TABLE.get(cmd_name)
        command = import_module(entry.module).command if entry else None
        return command if isinstance(command, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the overview without loading anything."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, TABLE[name].words) for name in self.list_commands(ctx)])

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; a reader that went away is told apart from errors of the command's own."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise Unread from error


class Unread(BaseException):
    """Nobody reads the output any more; click must not take this for an error of its own."""
