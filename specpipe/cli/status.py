"""`specpipe status`: the running instances of this user."""

import time
from typing import Any

import click
import msgspec

from specpipe.cli.printing import console, print_json, table
from specpipe.client.client import Client
from specpipe.errors import PeerError
from specpipe.links.folder import Instance, running


@click.command("status")
@click.option("--json", "as_json", is_flag=True, help="Print a list of objects.")
def command(*, as_json: bool) -> None:
    """Show the running instances and what they do."""
    found = [_described(instance) for instance in running()]
    if as_json:
        print_json(found)
    for each in [] if as_json else found:
        console(stderr=False).print(table(f"process {each['instance']['pid']}", _rows(**each)))
    if not found and not as_json:
        click.echo("no instance is running; specpipe launch starts one", err=True)


def _described(instance: Instance) -> dict[str, Any]:
    return {"instance": msgspec.to_builtins(instance), "status": _status(instance)}


def _status(instance: Instance) -> dict[str, Any] | None:
    try:
        with Client(instance.clients, silence_s=0.5, patience_s=2.0) as client:
            return dict(msgspec.to_builtins(client.status()))
    except PeerError:
        return None


def _rows(instance: dict[str, Any], status: dict[str, Any] | None) -> dict[str, Any]:
    minutes = (time.time() - instance["created"]) / 60
    rows = {key: instance[key] for key in ("target", "draft", "dtype")} | {"running_for": f"{minutes:.0f} min"}
    if status is None:
        return rows | {"status": "does not answer"}
    for worker in status["workers"]:
        state = f"process {worker['pid']} on {worker['device']}" if worker["ready"] else "not ready"
        rows[worker["role"]] = state
    counts = {key: status[key] for key in ("open_requests", "finished_requests", "failed_requests", "committed_tokens")}
    return rows | counts | {"tokens_per_pass": status["committed_tokens"] / max(1, status["passes"])}
