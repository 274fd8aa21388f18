"""What a worker's pulse shows to have been lost between it and the coordinator, and what mends that."""

from collections.abc import Callable, Mapping

from specpipe.minds.entry import Entry
from specpipe.minds.roster import Worker
from specpipe.words.messages import Close, Message, Open, Pulse, Recall


def mend(
    worker: Worker, pulse: Pulse, wanted: Mapping[int, Entry], opening: Callable[[Entry], Open | None]
) -> list[Message]:
    """Return what the worker must be told after its pulse; `wanted` are the requests that should be open there.

    What it has open beyond those is closed. What the verifier committed beyond what is known is recalled: a pulse
    cannot overtake a verdict. What two pulses in a row do not name is opened again: one may have left just before
    the `Open` came.
    """
    columns = zip(pulse.requests.tolist(), pulse.lives.tolist(), pulse.outputs.tolist(), strict=True)
    there = {number: (life, output) for number, life, output in columns}
    missing = {number for number, entry in wanted.items() if there.get(number, (-1, 0))[0] < entry.life}
    again = sorted(missing & worker.missing)
    worker.missing = missing.difference(again)
    lost: list[Message] = [Close(request=number) for number in there if number not in wanted]
    if pulse.role == "verifier":
        known = {number: (entry.life, len(entry.committed)) for number, entry in wanted.items()}
        lost += [
            Recall(request=number, start=known[number][1])
            for number, (life, output) in there.items()
            if number in known and life == known[number][0] and output > known[number][1]
        ]
    openings = (opening(wanted[number]) for number in again)
    return [*lost, *(each for each in openings if each)]
