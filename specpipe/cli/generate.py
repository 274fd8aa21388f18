"""`specpipe generate`: one prompt in, one answer out."""

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from specpipe.cli.answers import Whole, read_all
from specpipe.cli.instances import own_instance, running_instance, supervised
from specpipe.cli.models import make_ready
from specpipe.cli.options import refuse_unwritable, settings_of, shared_options, trace_option
from specpipe.cli.printing import console, print_json, table, waiting, write
from specpipe.cli.sampling import options_of, sampling_options
from specpipe.client.asking import ask_chat, ask_text
from specpipe.client.choices import choices
from specpipe.client.client import Client
from specpipe.errors import RequestError
from specpipe.settings import Settings
from specpipe.supervisor.events import Event, GivenUp, Restarting, Said
from specpipe.supervisor.signals import Interrupts
from specpipe.words.messages import Ask


@click.command("generate")
@click.argument("prompt")
@shared_options
@click.option("--raw", is_flag=True, help="Continue the prompt as it is, without the chat template.")
@click.option("--echo", is_flag=True, help="Print the prompt before the answer; with --raw only.")
@sampling_options
@click.option("--json", "as_json", is_flag=True, help="Print one object at the end.")
@click.option("--stats", "with_stats", is_flag=True, help="Show what speculation gained, on standard error.")
@trace_option
def command(prompt: str, *, as_json: bool, with_stats: bool, trace: Path | None, **flags: Any) -> None:
    """Answer PROMPT (- reads it from standard input).

    A running instance is used if it has the models that are asked for, else one is started for this answer.
    """
    settings = settings_of(flags)
    ask = _ask(_read_prompt(prompt), settings, flags)
    asks = choices(ask, flags["n"])
    refuse_unwritable(trace)
    with Interrupts() as interrupts, ExitStack() as stack:
        client = _client(settings, interrupts, stack, trace, alone=_needs_its_own(flags, trace))
        prompt_shown = ask.text if flags["echo"] else ""
        answers = read_all([client.ask(each) for each in asks], _swallow if as_json else write, prompt_shown)
    _show(answers, as_json=as_json, with_logprobs=flags["logprobs"] is not None, with_stats=with_stats)


def _client(settings: Settings, interrupts: Interrupts, stack: ExitStack, trace: Path | None, *, alone: bool) -> Client:
    """Return a client, which the stack closes with all that was started for it."""
    client = None if alone else running_instance(settings)
    if client is not None:
        return stack.enter_context(client)
    with waiting("Starting the models"):
        make_ready(settings)
        supervisor = supervised(settings, interrupts, trace=trace, report=_hear)
        return stack.enter_context(own_instance(supervisor))


def _needs_its_own(flags: dict[str, Any], trace: Path | None) -> bool:
    """What is fixed when an instance starts cannot be asked of one that runs."""
    return trace is not None or flags["lanes"] is not None or flags["batch_invariant"] is not None


def _ask(prompt: str, settings: Settings, flags: dict[str, Any]) -> Ask:
    if flags["echo"] and not flags["raw"]:
        raise click.UsageError("--echo needs --raw: what a chat template makes of a prompt is not text to go on from")
    options = options_of(flags, settings.speculation)
    return ask_text(prompt, options) if flags["raw"] else ask_chat([("user", prompt.strip("\n"))], options)


def _read_prompt(prompt: str) -> str:
    if prompt != "-":
        return prompt
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        raise RequestError("prompt: standard input is not valid UTF-8") from error


def _hear(event: Event) -> None:
    """Pass on what a person should know of the processes."""
    match event:
        case Said(role, line):
            console().print(f"{role}: {line}", markup=False)
        case Restarting(role, reason, _):
            console().print(f"the {role} ended ({reason}) and is started again", markup=False)
        case GivenUp(role, reason):
            console().print(f"the {role} ended ({reason}); going on without it", markup=False)


def _swallow(_text: str) -> None:
    return None


def _show(answers: Sequence[Whole], *, as_json: bool, with_logprobs: bool, with_stats: bool) -> None:
    if as_json:
        described = [answer.described(logprobs=with_logprobs) for answer in answers]
        print_json(described[0] if len(described) == 1 else {"choices": described})
    for answer in answers if with_stats else ():
        console().print(table("statistics", {"seed": answer.finished.seed} | answer.stats()))
