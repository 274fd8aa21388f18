"""Messages for the minds, with everything that a test does not care about filled in."""

from collections.abc import Mapping, Sequence

import numpy as np

from specpipe.words.messages import Ask, Edges, Hello, Pulse, Verdict
from specpipe.words.messages.fields import Role
from specpipe.words.sampling import Mode, Sampling, Shape


def ask(
    key: int = 1,
    *,
    ids: Sequence[int] = (5, 6, 7),
    mode: Mode = "pipelined",
    max_tokens: int = 20,
    nodes: int = 0,
    check: Shape = "chain",
    seed: int | None = None,
    ignore_eos: bool = False,
    stop: Sequence[str] = (),
    stop_tokens: Sequence[int] = (),
) -> Ask:
    """Return a client's request."""
    return Ask(
        key=key,
        mode=mode,
        sampling=Sampling(seed=seed or 0),
        seeded=seed is not None,
        max_tokens=max_tokens,
        nodes=nodes,
        check=check,
        ignore_eos=ignore_eos,
        stop=tuple(stop),
        stop_tokens=tuple(stop_tokens),
        chat=(),
        text="",
        ids=np.array(ids, np.int32),
    )


def hello(
    role: Role,
    *,
    lanes: int = 2,
    context: int = 64,
    fingerprint: str = "f",
    vocabulary: int = 4096,
    pid: int = 7,
    edges: str = "memory://edges",
) -> Hello:
    """Return a worker's first message."""
    data = {"edges": edges, "verdicts": "memory://verdicts"} if role == "verifier" else {}
    return Hello(
        role=role,
        protocol=1,
        pid=pid,
        model=f"the {role}'s model",
        fingerprint=fingerprint,
        vocabulary=vocabulary,
        context=context,
        lanes=lanes,
        device="cpu",
        dtype="float32",
        threads=1,
        **data,
    )


def pulse(
    role: Role,
    standing: Mapping[int, tuple[int, int]] | None = None,
    *,
    counter: int = 0,
    dropped: int = 0,
    peer: str = "memory://edges",
) -> Pulse:
    """Return a sign of life; `standing` are the requests that are open there, each with its life and tokens."""
    there = standing or {}
    return Pulse(
        role=role,
        counter=counter,
        dropped=dropped,
        at=1.0,
        requests=np.array(list(there), np.uint64),
        lives=np.array([life for life, _ in there.values()], np.int32),
        outputs=np.array([output for _, output in there.values()], np.int32),
        peer=peer if role == "drafter" else "",
    )


def verdict(
    tokens: Sequence[int],
    start: int = 0,
    *,
    request: int = 1,
    life: int = 0,
    checked: int = 0,
    chain: int | None = None,
    right: int | None = None,
    hit: bool = False,
    began: float = 1.0,
    ended: float = 2.0,
    finish: str = "",
) -> Verdict:
    """Return what a pass committed."""
    return Verdict(
        request=request,
        life=life,
        start=start,
        checked=checked,
        chain=checked if chain is None else chain,
        right=len(tokens) - 1 if right is None else right,
        hit=hit,
        began=began,
        ended=ended,
        finish=finish,
        tokens=np.array(tokens, np.int32),
        log_p=np.zeros(len(tokens), np.float32),
    )


def edges(links: Sequence[tuple[int, int]], *, request: int = 1, chance: float = 0.5, step_s: float = 0.005) -> Edges:
    """Return drafted tokens, given as pairs of parent hash and token."""
    return Edges(
        request=request,
        steps=1,
        step_s=step_s,
        parents=np.array([parent for parent, _ in links], np.uint64),
        tokens=np.array([token for _, token in links], np.int32),
        log_q=np.zeros(len(links), np.float32),
        chances=np.full(len(links), chance, np.float32),
    )
