"""`specpipe bench simulate`: what overlap gains, with sleeps for the forward passes and nothing else made up."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from specpipe.cli.printing import console, shown, table, waiting
from specpipe.cli.trial import Devices, Trial, described, measure, simulated, speedup
from specpipe.errors import SettingsError
from specpipe.supervisor.signals import Interrupts
from specpipe.words.sampling import SEQUENTIAL_NODES, Mode, Shape

# The published simulation: sequential speculation with K = 5, 5 ms a step, 100 ms a pass, no bonus token.
PUBLISHED: dict[tuple[float, ...], float] = {
    (0.5, 0.15, 0.08, 0.05): 1.60,
    (0.6, 0.14, 0.07, 0.04): 1.86,
    (0.7, 0.12, 0.05, 0.03): 2.16,
    (0.8, 0.09, 0.03, 0.02): 2.61,
    (0.9, 0.05, 0.02, 0.01): 3.32,
}
_HEADLINES = (
    "tokens_per_second",
    "tokens_per_pass",
    "acceptance_rate",
    "hit_rate",
    "overlap",
    "verifier_wait_share",
    "efficiency",
)
# The target alone does the same in every pass, so that few are enough.
_MOST_BASE_TOKENS = 20


@click.command("simulate")
@click.option("--w", "chances", default=".7,.12,.05,.03", show_default=True, help="Chances of the draft's choices.")
@click.option("--draft-ms", type=float, default=5.0, show_default=True, help="A step of the drafter.")
@click.option("--target-ms", type=float, default=100.0, show_default=True, help="A pass of the verifier.")
@click.option("--row-ms", type=float, default=0.0, show_default=True, help="Each further row of a pass.")
@click.option("--lanes", type=int, default=8, show_default=True, help="M: nodes in a step.")
@click.option("--nodes", type=int, default=16, show_default=True, help="N: drafted rows in a pass.")
@click.option(
    "--check", type=click.Choice(["chain", "tree", "auto"]), default="tree", show_default=True, help="Their shape."
)
@click.option("--tokens", type=click.IntRange(2, 1 << 20), default=500, show_default=True, help="Tokens to write.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Another seed, another text.")
@click.option(
    "--mode", type=click.Choice(["pipelined", "sequential", "target"]), default="pipelined", show_default=True
)
@click.option("--sweep", is_flag=True, help="Measure beside the published simulation, for five draft models.")
@click.option("--json", "file", type=click.Path(path_type=Path, dir_okay=False), help="Write the figures to a file.")
def simulate(
    *,
    chances: str,
    draft_ms: float,
    target_ms: float,
    row_ms: float,
    lanes: int,
    nodes: int,
    check: Shape,
    tokens: int,
    seed: int,
    mode: Mode,
    sweep: bool,
    file: Path | None,
) -> None:
    """Measure the speedup over the target alone on simulated devices."""
    devices = Devices(_chances(chances), draft_ms, target_ms, row_ms, lanes)
    trial = Trial(mode, check, nodes, tokens, seed)
    with Interrupts() as interrupts:
        figures = (_sweep if sweep else _single)(devices, trial, interrupts)
    if file is not None:
        file.write_text(json.dumps(figures, indent=2) + "\n", "utf-8")


def _single(devices: Devices, trial: Trial, interrupts: Interrupts) -> dict[str, Any]:
    with waiting("Measuring"), simulated(devices, interrupts) as client:
        answer = measure(client, trial)
        base = measure(client, _base(trial))
    gain, stats = speedup(answer, base), described(answer)
    rows = {"speedup": gain} | {key: stats[key] for key in _HEADLINES}
    console(stderr=False).print(table(trial.mode, rows))
    return {"w": devices.w, "mode": trial.mode, "speedup": gain, "stats": stats, "base": described(base)}


def _sweep(devices: Devices, trial: Trial, interrupts: Interrupts) -> dict[str, Any]:
    rows = []
    for w, published in PUBLISHED.items():
        with waiting(f"Measuring w = {w}"):
            rows.append({"w": w, "published": published} | _compared(replace(devices, w=w), trial, interrupts))
    console(stderr=False).print(_rendered(rows))
    return {"rows": rows}


def _compared(devices: Devices, trial: Trial, interrupts: Interrupts) -> dict[str, Any]:
    """Return our speedups in turns and overlapped, and how far the first is from the published one."""
    with simulated(devices, interrupts) as client:
        base = measure(client, _base(trial))
        sequential = measure(client, replace(trial, mode="sequential", nodes=SEQUENTIAL_NODES))
        pipelined = measure(client, replace(trial, mode="pipelined"))
    published = PUBLISHED[devices.w]
    return {
        "sequential": speedup(sequential, base),
        "deviation": speedup(sequential, base) / published - 1,
        "pipelined": speedup(pipelined, base),
        "gain": speedup(pipelined, base) / published - 1,
        "stats": {"sequential": described(sequential), "pipelined": described(pipelined)},
    }


def _base(trial: Trial) -> Trial:
    return replace(trial, mode="target", tokens=min(trial.tokens, _MOST_BASE_TOKENS))


def _rendered(rows: list[dict[str, Any]]) -> Table:
    result = Table(title="speedup over the target alone", title_justify="left")
    heads = (
        "w",
        "published",
        "sequential K=5",
        "deviation",
        "pipelined",
        "gain",
        "overlap",
        "wait share",
        "efficiency",
    )
    for head in heads:
        result.add_column(head, justify="left" if head == "w" else "right")
    for row in rows:
        stats = row["stats"]["pipelined"]
        shares = [shown(stats[key]) for key in ("overlap", "verifier_wait_share", "efficiency")]
        w = " ".join(f"{chance:g}".removeprefix("0") for chance in row["w"])
        figures = f"{row['published']:.2f}", f"{row['sequential']:.2f}", f"{row['deviation']:+.0%}"
        result.add_row(w, *figures, f"{row['pipelined']:.2f}", f"{row['gain']:+.0%}", *shares)
    return result


def _chances(words: str) -> tuple[float, ...]:
    try:
        chances = tuple(float(word) for word in words.split(","))
    except ValueError as error:
        raise SettingsError(f"w: {words!r} is no list of chances, as in .7,.12,.05,.03") from error
    if not all(0 <= chance <= 1 for chance in chances) or sum(chances) > 1 + 1e-9:
        raise SettingsError(f"w: the chances {words!r} must lie in 0..1 and add up to 1 at most")
    return chances
