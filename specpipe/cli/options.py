"""The options that say which instance is wanted, shared by the commands that start one."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from specpipe.cli.role import read_settings
from specpipe.settings import Settings

Function = TypeVar("Function", bound=Callable[..., Any])

_PATH = click.Path(path_type=Path, dir_okay=False)
_SHARED = (
    click.option("--config", type=_PATH, help="Settings, as TOML or JSON; options win over it."),
    click.option("--target", metavar="MODEL", help="smollm2, a folder, or a hub id of the Llama family."),
    click.option("--draft", metavar="MODEL", help="As the target; or ngram, MODEL+ngram, none."),
    click.option("--dtype", type=click.Choice(["auto", "float32", "bfloat16"]), help="Arithmetic of both models."),
    click.option("--mode", type=click.Choice(["pipelined", "sequential", "target"]), help="How draft and target work."),
    click.option("--check", type=click.Choice(["chain", "tree", "auto"]), help="The shape of what a pass checks."),
    click.option("--acceptance", type=click.Choice(["coupled", "rejection"]), help="How guesses are judged."),
    click.option("--nodes", type=int, metavar="N", help="Most drafted tokens in a pass; 0: chosen by measurement."),
    click.option("--lanes", type=int, metavar="M", help="Places that the drafter extends in one step."),
    click.option(
        "--batch-invariant/--no-batch-invariant",
        default=None,
        help="Fixed widths, so that an answer has the same bits whatever runs beside it.",
    ),
)
_PLACES = (
    click.option("--target-gpu", type=click.IntRange(min=0), metavar="N", help="The GPU of the target."),
    click.option("--draft-gpu", type=click.IntRange(min=0), metavar="N", help="The GPU of the draft."),
    click.option("--target-device", metavar="D", help="The device of the target: cpu, cuda or cuda:N."),
    click.option("--draft-device", metavar="D", help="The device of the draft: cpu, cuda or cuda:N."),
    click.option("--target-threads", type=int, metavar="N", help="The threads of the verifier on a CPU."),
    click.option("--draft-threads", type=int, metavar="N", help="The threads of the drafter on a CPU."),
)

trace_option = click.option("--trace", type=_PATH, metavar="FILE", help="Write a Chrome trace, to open in Perfetto.")


def shared_options(function: Function) -> Function:
    """Add the options that say which models, and how they work together."""
    return _added(_SHARED, function)


def place_options(function: Function) -> Function:
    """Add the options that say where the models run."""
    return _added(_PLACES, function)


def settings_of(flags: dict[str, Any]) -> Settings:
    """Return the settings of the file with the options laid over them; raise `SettingsError` or a usage error."""
    settings = read_settings(flags.get("config"))
    changes = {
        "target": _model(flags, "target"),
        "draft": _model(flags, "draft"),
        "speculation": {key: flags.get(key) for key in ("mode", "check", "acceptance", "nodes", "lanes")},
        "engine": {"batch_invariant": flags.get("batch_invariant")},
    }
    return settings.merged(changes)


def refuse_unwritable(path: Path | None) -> None:
    """Find out before an instance is started, rather than after, that its trace cannot be written."""
    if path is None:
        return
    try:
        path.open("ab").close()
    except OSError as error:
        raise click.BadParameter(f"cannot write {path}: {error.strerror}", param_hint="--trace") from error


def _model(flags: dict[str, Any], part: str) -> dict[str, Any]:
    gpu, device = flags.get(f"{part}_gpu"), flags.get(f"{part}_device")
    if gpu is not None and device is not None:
        raise click.UsageError(f"--{part}-gpu and --{part}-device say the same; give one of them")
    return {
        "name": flags.get(part),
        "dtype": flags.get("dtype"),
        "device": device if gpu is None else f"cuda:{gpu}",
        "threads": flags.get(f"{part}_threads"),
    }


def _added(options: tuple[Callable[[Function], Function], ...], function: Function) -> Function:
    for option in reversed(options):
        function = option(function)
    return function
