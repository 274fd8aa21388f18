"""The drafter's mind: what it runs, what it sends, and how it follows the verifier."""

import random
from collections.abc import Sequence
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from specpipe.minds.drafting import Drafting, News, Shape
from specpipe.words import planted
from specpipe.words import prefix as prefixes
from specpipe.words.messages import Close, Draws, Edges, Message, Open, Resync
from specpipe.words.proposals import Proposals
from specpipe.words.sampling import Sampling
from tests.minds.house import drafts, proposals, text
from tests.minds.messages import verdict
from tests.minds.requests import opening
from tests.minds.slab import Slab

SURE = (1.0,)
W = (0.6, 0.15, 0.1)


def mind(
    lanes: int = 4,
    requests: int = 2,
    *,
    slots: int = 400,
    context: int = 200,
    prefill_rows: int = 16,
    model: bool = True,
    ngram: bool = False,
) -> Drafting:
    """Return a drafter's mind."""
    return Drafting(Shape(lanes, requests, slots, context, prefill_rows, model, ngram))


def step(made: Drafting, w: Sequence[float] = W, slab: Slab | None = None) -> list[News] | None:
    """Run one step; return the edges, or None if there was nothing to run."""
    planned = made.plan()
    if planned is None:
        return None
    if slab:
        slab.run(planned.batch, [text(row) for row in planned.rows])
    return made.settle(planned, None if planned.prefill else proposals(planned, w), 0.005)


def exhaust(made: Drafting, w: Sequence[float] = W, most: int = 500) -> list[News]:
    """Run steps until there is nothing to run; return all edges."""
    sent: list[News] = []
    for _ in range(most):
        edges = step(made, w)
        if edges is None:
            return sent
        sent += edges
    raise AssertionError("it never rests")


def sure(lanes: int = 4, context: int = 200) -> Drafting:
    """Return a mind that has learned that its first guess is always right."""
    made = mind(lanes, context=context)
    for _ in range(3000):
        made.calibration.kind("model", False, 0, 1.0).observe(right=True)
    return made


def told(made: Drafting, message: Message) -> list[Message]:
    """Tell the mind; return what it sends."""
    return list(made.handle(message))


def links(sent: Sequence[News]) -> list[tuple[int, int]]:
    """Return the edges as pairs of parent and token, in the order in which they were sent."""
    edges = [each for each in sent if isinstance(each, Edges)]
    return [pair for each in edges for pair in zip(each.parents.tolist(), each.tokens.tolist(), strict=True)]


def truth(request: Open, count: int, w: Sequence[float]) -> list[int]:
    """Return what the target writes after the prompt."""
    prefix = prefixes.extend(prefixes.origin(request.request), request.prompt.tolist())
    tokens = []
    for _ in range(count):
        tokens.append(planted.truth(prefix, w))
        prefix = prefixes.child(prefix, tokens[-1])
    return tokens


def test_an_open_request_is_drafted_and_a_closed_one_is_not() -> None:
    """The first edges hang at the prompt; after the close there is nothing to run or to send."""
    made = mind()
    told(made, opening())
    sent = step(made)
    planned = made.plan()
    assert planned is not None
    told(made, Close(request=1))

    assert sent
    assert {parent for parent, _ in links(sent)} == {prefixes.extend(prefixes.origin(1), (5, 6, 7))}
    assert made.settle(planned, proposals(planned, W), 0.005) == []
    assert made.plan() is None
    assert list(made.standing) == []


def test_target_mode_is_not_drafted() -> None:
    """No lane, no step, no edge."""
    made = mind()
    told(made, opening(mode="target"))

    assert made.plan() is None
    assert list(made.standing) == []


def test_every_edge_hangs_at_the_root_or_at_an_edge_that_was_sent_before() -> None:
    """The verifier never has to wait for a parent that is on its way."""
    made = mind()
    told(made, opening())
    sent = [edges for _ in range(20) for edges in step(made) or []]
    told(made, verdict(truth(opening(), 3, W)))
    known = {prefixes.extend(prefixes.origin(1), (5, 6, 7))}
    for parent, token in links(sent):
        assert parent in known
        known.add(prefixes.child(parent, token))


@pytest.mark.parametrize("nodes", [1, 3, 5])
def test_a_sequential_request_gets_one_chain_of_its_length_and_then_waits(nodes: int) -> None:
    """No alternatives, nothing beyond the block, until a verdict comes; then the next block."""
    made = mind()
    request = opening(mode="sequential", nodes=nodes)
    told(made, request)
    first = links(exhaust(made, SURE))
    told(made, verdict(truth(request, nodes + 1, SURE)))
    second = links(exhaust(made, SURE))

    assert [token for _, token in first + second] == [
        token for at, token in enumerate(truth(request, 2 * nodes + 1, SURE)) if at != nodes
    ]


def test_a_sequential_block_is_filled_however_unlikely_its_guesses_are() -> None:
    """One chain of first choices, of the length that was asked for, also from a draft that is never right."""
    made = mind()
    for _ in range(1000):
        made.calibration.kind("model", False, 0, 1.0).observe(right=False)
    told(made, opening(mode="sequential", nodes=5))
    chain = links(exhaust(made, W))

    assert len({parent for parent, _ in chain}) == len(chain) == 5


def test_a_sequential_block_of_which_only_a_part_arrived_does_not_stall() -> None:
    """The root lands on the last drafted token, after which nothing was drafted yet."""
    made = mind()
    request = opening(mode="sequential", nodes=3)
    told(made, request)
    exhaust(made, SURE)
    told(made, verdict(truth(request, 3, SURE)))

    assert [token for _, token in links(exhaust(made, SURE))] == truth(request, 6, SURE)[3:]


def test_a_chain_that_was_too_far_ahead_goes_on_when_the_root_follows() -> None:
    """The depth of what is drafted is bounded from the root, and nothing is given up for good."""
    made = sure(lanes=1)
    request = opening(max_tokens=150)
    told(made, request)
    deep = links(exhaust(made, SURE))
    told(made, verdict(truth(request, 9, SURE)))
    deeper = links(exhaust(made, SURE))

    assert [token for _, token in deep] == truth(request, 64, SURE)
    assert [token for _, token in deeper] == truth(request, 73, SURE)[64:]


@pytest.mark.parametrize("max_tokens", [1, 2, 3, 10])
def test_nothing_is_drafted_that_the_budget_forbids_to_check(max_tokens: int) -> None:
    """The last token is the target's own in any case, so at most one less is drafted."""
    made = sure()
    told(made, opening(max_tokens=max_tokens))

    assert len(links(exhaust(made, SURE))) == max_tokens - 1


@pytest.mark.parametrize(("prompt", "most"), [(3, 17), (18, 2), (19, 1), (20, 0), (21, 0), (40, 0)])
def test_nothing_is_drafted_or_prefilled_beyond_the_drafts_context(prompt: int, most: int) -> None:
    """A prompt that fills the draft's context is not worth a step (case B07)."""
    made, slab = sure(context=20), Slab()
    told(made, opening(prompt=range(prompt)))
    sent: list[News] = []
    while (edges := step(made, SURE, slab)) is not None:
        sent += edges

    assert len(links(sent)) == most
    assert max(map(len, slab.contents.get(0, {}).values()), default=0) == (19 if most else 0)


def test_a_stop_token_is_sent_and_nothing_after_it() -> None:
    """The drafter does not write on after the end."""
    made = mind()
    tokens = truth(opening(), 5, SURE)
    told(made, opening(stop_tokens=[tokens[3]]))
    upto = tokens.index(tokens[3]) + 1

    assert [token for _, token in links(exhaust(made, SURE))] == tokens[:upto]


def test_a_gap_is_asked_for_and_heals() -> None:
    """A verdict that says nothing of what went before it moves nothing; the repeated one does."""
    made = mind()
    request = opening()
    tokens = truth(request, 9, W)
    told(made, request)
    step(made)
    told(made, verdict(tokens[:2]))

    asked = told(made, verdict(tokens[5:7], 5))
    assert [(type(each), each.request, each.start) for each in asked if isinstance(each, Resync)] == [(Resync, 1, 2)]
    assert drafts(made)[0].tokens == [5, 6, 7, *tokens[:2]]
    told(made, verdict(tokens[2:9], 2))
    assert drafts(made)[0].tokens == [5, 6, 7, *tokens]


@given(
    cuts=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=20),
)
def test_verdicts_in_any_order_and_number_never_take_anything_back(cuts: list[tuple[int, int]]) -> None:
    """Old, repeated and overlapping ones: the committed tokens only grow, and are always a prefix of the truth."""
    made = mind()
    request = opening()
    tokens = truth(request, 20, W)
    told(made, request)
    longest = 0
    for start, length in cuts:
        told(made, verdict(tokens[start : start + length], start))
        step(made)
        longest = max(longest, start + length) if start <= longest else longest
        assert drafts(made)[0].tokens == [5, 6, 7, *tokens[:longest]]


def test_verdicts_of_an_older_life_are_ignored() -> None:
    """A stopped verifier that wakes after its replacement says nothing."""
    made = mind()
    told(made, opening(life=2, committed=[1, 2]))

    assert told(made, verdict([9, 9, 9], 2, life=1)) == []
    assert told(made, verdict([9, 9, 9], 2, life=1, finish="stop")) == []
    assert drafts(made)[0].tokens == [5, 6, 7, 1, 2]
    told(made, verdict([3], 2, life=2))
    assert drafts(made)[0].tokens == [5, 6, 7, 1, 2, 3]


def test_a_later_life_replaces_and_an_earlier_or_repeated_one_does_not() -> None:
    """The drafter goes back to the reopened prefix, and an old opening that comes again changes nothing."""
    made = mind()
    told(made, opening(life=1, committed=[1]))
    told(made, verdict([2, 3], 1, life=1))
    told(made, opening(life=1, committed=[1]))
    told(made, opening(life=0))
    repeated = list(drafts(made)[0].tokens)
    told(made, opening(life=2, committed=[1, 2]))

    assert repeated == [5, 6, 7, 1, 2, 3]
    assert drafts(made)[0].tokens == [5, 6, 7, 1, 2]
    assert sorted([drafts(made)[0].lane, *made._lanes]) == [0, 1]


def test_the_end_of_a_request_frees_its_lane() -> None:
    """Whether a verdict or the coordinator says so first, and however often."""
    made = mind()
    told(made, opening())
    told(made, verdict([1], finish="stop"))
    told(made, verdict([1], finish="stop"))
    told(made, Close(request=1))

    assert list(made.standing) == []
    assert sorted(made._lanes) == [0, 1]


def test_no_more_requests_are_taken_than_there_are_lanes() -> None:
    """One without a lane is not drafted; nobody else notices."""
    made = mind(requests=2)
    for request in (1, 2, 3):
        told(made, opening(request))

    assert list(made.standing) == [1, 2]
    assert {draft.lane for draft in drafts(made)} == {0, 1}


def test_rows_go_to_the_likeliest_nodes_of_all_requests() -> None:
    """Two requests alike share a step; one that is certain gets more than one that is not."""
    made = mind(lanes=4)
    for request in (1, 2):
        told(made, opening(request))
    step(made)
    planned = made.plan()
    assert planned is not None
    owners = [row.draft.request.request for row in planned.rows if row.node]

    assert owners.count(1) == owners.count(2) == 2


def test_sequential_requests_share_a_step() -> None:
    """One request's block does not wait for another's."""
    made = mind(lanes=4)
    for request in (1, 2):
        told(made, opening(request, mode="sequential", nodes=3))
    planned = made.plan()
    assert planned is not None

    assert {row.draft.request.request for row in planned.rows} == {1, 2}


def test_a_long_prompt_takes_turns_with_growth() -> None:
    """Another request's trie grows between the chunks."""
    made, slab = mind(lanes=2), Slab()
    told(made, opening(1))
    step(made, slab=slab)
    told(made, opening(2, prompt=range(100)))
    rows = []
    for _ in range(14):
        planned = made.plan()
        assert planned is not None
        slab.run(planned.batch, [text(row) for row in planned.rows])
        rows.append(len(planned.rows) if planned.prefill else 0)
        made.settle(planned, None if planned.prefill else proposals(planned, W), 0.005)

    assert rows == [16, 0, 16, 0, 16, 0, 16, 0, 16, 0, 16, 0, 0, 0]
    assert drafts(made)[1].guesses


def test_what_ran_for_a_branch_that_died_meanwhile_is_dropped() -> None:
    """A verdict between a step's start and its end: nothing is sent of the dead branch, and nothing leaks."""
    made = mind()
    request = opening()
    told(made, request)
    for _ in range(5):
        step(made)
    planned = made.plan()
    assert planned is not None
    told(made, verdict([4000, 4001]))
    sent = made.settle(planned, proposals(planned, W), 0.005)
    draft = drafts(made)[0]

    assert sent == []
    assert set(draft.slots) <= set(draft.hashes) | {node.prefix for node in draft.trie.root.below()}


def test_what_ran_for_a_request_that_ended_meanwhile_is_not_sent() -> None:
    """Not even what became likely with its last verdict."""
    made = mind()
    request = opening()
    told(made, request)
    for _ in range(8):
        step(made)
    planned = made.plan()
    assert planned is not None
    told(made, verdict(truth(request, 2, W), finish="length"))

    assert made.settle(planned, proposals(planned, W), 0.005) == []


def test_a_full_slab_stops_the_growth_until_the_root_moves() -> None:
    """There is always room for a whole step, however deep its nodes."""
    made = mind(lanes=4, slots=100)
    request = opening()
    told(made, request)
    exhaust(made)
    draft = drafts(made)[0]
    before = draft.slots.free
    told(made, verdict(truth(request, 2, W)))

    assert 64 <= before < 80
    assert step(made)


def test_proposals_that_are_none_are_not_sent() -> None:
    """Where fewer tokens than the fan remain, the others are marked -1."""
    made = mind()
    told(made, opening())
    planned = made.plan()
    assert planned is not None
    rows = len(planned.rows)
    scores = np.full((rows, 2), -inf, np.float32)
    few = Proposals(np.tile(np.array([8, -1]), (rows, 1)), scores, np.full((rows, 2), inf, np.float32))
    sent = made.settle(planned, few, 0.005)

    assert [token for _, token in links(sent)] == [8]


def test_ngrams_alone_need_no_model_and_no_slots() -> None:
    """A prompt longer than any slab is continued by what followed before."""
    made = mind(slots=50, context=10_000, model=False, ngram=True)
    told(made, opening(prompt=[*range(100), *range(100)], max_tokens=300))
    planned = made.plan()
    assert planned is not None
    sent = made.settle(planned, None, 0.0)

    assert [token for _, token in links(sent)] == list(range(8))


def test_a_guess_of_ngrams_alone_is_drawn_with_certainty() -> None:
    """So that the ratio test has what it needs: q is 1 for what followed before."""
    made = mind(model=False, ngram=True)
    told(made, replace(opening(prompt=[1, 2, 3, 1, 2]), sampling=Sampling(1.0, acceptance="rejection")))
    planned = made.plan()
    assert planned is not None
    draws, edges = made.settle(planned, None, 0.0)

    assert isinstance(draws, Draws)
    found = [(prefix, draw.token, draw.ids.tolist()) for prefix, draw in draws.apart()]
    assert found == [(prefix, token, [token]) for prefix, token in links([edges])]
    assert [token for _, token in links([edges])] == [3, 1, 2, 3, 1, 2, 3, 1]


def test_a_chain_of_ngrams_gets_the_models_alternatives_too() -> None:
    """Its nodes are run like any others, and what the model guesses as well is sent once."""
    made = mind(lanes=8, ngram=True)
    told(made, opening(prompt=[1, 2, 3, 4, 1, 2]))
    slab = Slab()
    sent: list[News] = []
    for _ in range(4):
        sent += step(made, (0.4, 0.3, 0.2), slab) or []
    root = prefixes.extend(prefixes.origin(1), [1, 2, 3, 4, 1, 2])
    tokens: dict[int, list[int]] = {}
    for parent, token in links(sent):
        tokens.setdefault(parent, []).append(token)

    for path, following in (((), 3), ((3,), 4), ((3, 4), 1)):
        parent = prefixes.extend(root, path)
        assert sorted(tokens[parent]) == sorted([following, *planted.choices(parent, 3)])


def test_what_ngram_and_model_agree_on_is_sent_once() -> None:
    """Whichever of them says it first."""
    made = mind(lanes=8, ngram=True)
    told(made, opening(prompt=[1, 2, 3, 4, 1, 2]))
    sent: list[News] = []
    for _ in range(4):
        planned = made.plan()
        assert planned is not None
        rows = len(planned.rows)
        scores = np.zeros((rows, 2), np.float32)
        sent += made.settle(planned, Proposals(np.tile(np.array([3, 4]), (rows, 1)), scores, scores), 0.005)

    assert len(set(links(sent))) == len(links(sent))


@pytest.mark.parametrize("stop_tokens", [[], [4]])
def test_an_ngram_that_was_right_is_run_when_it_becomes_the_root(stop_tokens: list[int]) -> None:
    """Though something was guessed after it already, be it the end."""
    made, slab = mind(lanes=1, ngram=True), Slab()
    told(made, opening(prompt=[1, 2, 3, 4, 1, 2], stop_tokens=stop_tokens))
    step(made, slab=slab)
    told(made, verdict([3]))
    root = drafts(made)[0].trie.root
    sent = links(step(made, W, slab) or [])

    assert {token for parent, token in sent if parent == root.prefix} == set(planted.choices(root.prefix, 3))


def test_a_full_trie_stops_the_growth_until_the_root_moves() -> None:
    """What found no room is drafted when there is some again."""
    made = mind(slots=10, context=10_000, model=False, ngram=True)
    told(made, opening(prompt=[*range(100), *range(100)], max_tokens=300))
    sent: list[News] = []
    for at in range(0, 60, 6):
        while planned := made.plan():
            sent += made.settle(planned, None, 0.0)
        told(made, verdict(range(at, at + 6), at))

    assert [token for _, token in links(sent)] == list(range(len(links(sent))))
    assert len(links(sent)) > 60


def test_ngrams_fill_a_sequential_block_where_the_model_says_nothing() -> None:
    """One chain in any case: where the model guessed, the n-gram does not branch off."""
    with_model, alone = mind(ngram=True), mind(model=False, ngram=True)
    request = opening(prompt=[1, 2, 3, 4, 1, 2], mode="sequential", nodes=2)
    told(with_model, request)
    told(alone, request)
    chain = links(exhaust(with_model, SURE))
    planned = alone.plan()
    assert planned is not None

    assert len({parent for parent, _ in chain}) == len(chain) == 2
    assert [token for _, token in links(alone.settle(planned, None, 0.0))] == [3, 4]


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_any_life_of_the_drafter_keeps_its_slab_in_order(seed: int) -> None:
    """Opens, closes, later lives and verdicts, true or not, at any moment: every row sees exactly its own text."""
    rng = random.Random(seed)
    made, slab = mind(lanes=3, requests=2, slots=150, context=60, prefill_rows=8, ngram=rng.random() < 0.5), Slab()
    lives = {1: 0, 2: 0, 3: 0}
    for _ in range(60):
        _disturb(made, rng, lives)
        step(made, slab=slab)
        assert sorted([*made._lanes, *(draft.lane for draft in drafts(made))]) == [0, 1]
        for draft in drafts(made):
            assert len(set(draft.slots.values())) == len(draft.slots)
            assert set(draft.slots) <= set(draft.hashes) | {node.prefix for node in draft.trie.root.below()}


def _disturb(made: Drafting, rng: random.Random, lives: dict[int, int]) -> None:
    request = rng.choice(sorted(lives))
    move = rng.random()
    if move < 0.15:
        lives[request] += rng.randrange(2)
        prompt = rng.sample(range(9), rng.randrange(1, 9)) * rng.randrange(1, 4)
        told(made, opening(request, life=lives[request], prompt=prompt, committed=[1] * rng.randrange(4)))
    elif move < 0.2:
        told(made, Close(request=request))
    elif move < 0.6 and made.standing:
        draft = rng.choice(drafts(made))
        start = max(0, draft.output - rng.randrange(2))
        known = draft.tokens[len(draft.request.prompt) + start :]
        fresh = _continuation(draft.hashes[-1], rng)
        told(made, verdict([*known, *fresh], start, request=draft.request.request, life=draft.request.life))


def _continuation(prefix: int, rng: random.Random) -> list[int]:
    tokens = []
    for _ in range(rng.randrange(1, 5)):
        token = planted.truth(prefix, W) if rng.random() < 0.8 else 4000
        tokens.append(token)
        prefix = prefixes.child(prefix, token)
    return tokens
