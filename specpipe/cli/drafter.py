"""`specpipe drafter`."""

from specpipe.cli.role import role_command

command = role_command("drafter")
