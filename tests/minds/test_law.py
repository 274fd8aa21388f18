"""The two minds with rejection acceptance, on a language of four tokens: however their work falls in time, the text
follows the target's law, after every token, at places where a draw was judged and at places where none had arrived.
"""

import random
from collections.abc import Sequence
from math import log

import numpy as np
import pytest
import torch
from torch import Tensor

from specpipe.minds import drafting, verifying
from specpipe.minds.costs import PassCosts
from specpipe.minds.drafting import LEAST_SENT, Drafting
from specpipe.minds.verifying import Verifying
from specpipe.minds.work import Pass
from specpipe.sampling.proposer import Proposer
from specpipe.sampling.sampler import Sampler
from specpipe.sampling.spot import Spot
from specpipe.words.messages import Draws, Message, Open
from specpipe.words.sampling import Ending, Mode, Sampling
from tests.sampling.chi_square import chance

VOCABULARY = 4
LENGTH = 500
TARGET = torch.randn(VOCABULARY, VOCABULARY, generator=torch.Generator().manual_seed(3))
DRAFT = TARGET + torch.randn(VOCABULARY, VOCABULARY, generator=torch.Generator().manual_seed(4))


def opening(mode: Mode, seed: int) -> Open:
    """Return a request for a text of 500 tokens after the token 0."""
    return Open(
        request=seed,
        life=0,
        mode=mode,
        sampling=Sampling(temperature=1.0, seed=seed, acceptance="rejection"),
        ending=Ending(LENGTH),
        nodes=4 if mode == "sequential" else 0,
        check="chain",
        prompt=np.zeros(1, np.int32),
        committed=np.empty(0, np.int32),
    )


class Writing:
    """A drafter and a verifier at one text, and for each token whether a draw was judged at its place."""

    def __init__(self, mode: Mode, fan: int, seed: int, *, loss: float) -> None:
        self.rng = random.Random(seed)
        self.request = opening(mode, seed)
        self.drafter = Drafting(drafting.Shape(4, 1, 2000, 600, 512))
        self.verifier = Verifying(verifying.Shape(1, 600, 512), PassCosts({1: 0.1, 65: 0.12}))
        self.fan, self.loss, self.now = fan, loss, 0.0
        self.proposer, self.sampler = Proposer(VOCABULARY, None), Sampler(VOCABULARY)
        self.tokens: list[int] = []
        self.judged: list[bool] = []
        self.under_way: list[Message] = []
        self.drafter.handle(self.request)
        self.verifier.handle(self.request, 0.0)

    def write(self) -> None:
        """Take turns at random until the text is whole."""
        while len(self.tokens) < LENGTH:
            self.now += 0.01
            self.rng.choice([self._draft, self._draft, self._check, self._hear])()

    def _draft(self) -> None:
        step = self.drafter.plan()
        if step is None:
            return
        if step.prefill:
            self.drafter.settle(step, None, 0.005)
            return
        spots = [Spot(self.request.sampling, row.position + 1) for row in step.rows]
        proposals = self.proposer.propose(DRAFT[[row.token for row in step.rows]], spots, self.fan)
        self._send(self.drafter.settle(step, proposals, 0.005))

    def _send(self, messages: Sequence[Message]) -> None:
        self.under_way += [message for message in messages if self.rng.random() >= self.loss]

    def _hear(self) -> None:
        for message in self.under_way:
            self.verifier.handle(message, self.now)
        self.under_way = []

    def _check(self) -> None:
        work = self.verifier.plan(self.now)
        if not isinstance(work, Pass):
            return
        draws, positions = work.draws, (work.batch.positions + 1).tolist()
        spots = [
            Spot(self.request.sampling, position, draw=draw) for position, draw in zip(positions, draws, strict=True)
        ]
        tokens = self.sampler.sample(TARGET[work.batch.tokens], spots).tokens
        for verdict in self.verifier.settle(work, tokens, [0.0] * len(tokens), self.now, self.now + 0.1):
            self.tokens += verdict.tokens.tolist()
            self.judged += [draw is not None for draw in draws[: len(verdict.tokens)]]
            self._send(self.drafter.handle(verdict))


def fits(before: Tensor, after: Tensor) -> list[float]:
    """Return for each token the p-value of what follows it against the target's law."""
    laws = TARGET.double().softmax(1)
    counts = [torch.bincount(after[before == token], minlength=VOCABULARY) for token in range(VOCABULARY)]
    return [chance(count, law * count.sum()) for count, law in zip(counts, laws, strict=True)]


@pytest.mark.parametrize(
    ("mode", "fan", "loss"),
    [("pipelined", 3, 0.0), ("pipelined", 1, 0.0), ("pipelined", 3, 0.4), ("sequential", 3, 0.0)],
    ids=["with branches", "without branches", "half lost", "in turn"],
)
def test_the_text_follows_the_targets_law(mode: Mode, fan: int, loss: float) -> None:
    """Where draws were judged and where they were not, apart and together."""
    written = [Writing(mode, fan, seed, loss=loss) for seed in range(1, 11)]
    for each in written:
        each.write()
    before = torch.tensor([token for each in written for token in [0, *each.tokens[: LENGTH - 1]]])
    after = torch.tensor([token for each in written for token in each.tokens[:LENGTH]])
    judged = torch.tensor([place for each in written for place in each.judged[:LENGTH]])

    assert min(int(judged.sum()), int((~judged).sum())) > 100
    for places in (judged, ~judged, torch.ones_like(judged)):
        assert min(fits(before[places], after[places])) > 1e-4


def test_what_is_judged_is_decided_before_it_is_drawn() -> None:
    """A draw is sent if its place is likely enough to be reached, however unlikely the drawn token is."""
    writing = Writing("pipelined", 3, 1, loss=0.0)
    for _ in range(60):
        writing._draft()
    messages = [message for message in writing.under_way if isinstance(message, Draws)]
    sent = {prefix for message in messages for prefix, _ in message.apart()}
    (draft,) = writing.drafter._drafts.values()
    places = {prefix: guesses[0].parent.reach for prefix, guesses in draft.guesses.items()}

    assert sent == {prefix for prefix, reach in places.items() if reach >= log(LEAST_SENT)}
    assert 0 < len(sent) < len(places)
