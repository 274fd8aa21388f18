"""`specpipe coordinator`."""

from specpipe.cli.role import role_command

command = role_command("coordinator")
