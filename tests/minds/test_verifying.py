"""The verifier's mind: what it runs, what it commits, and when it waits."""

import random
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specpipe.minds.check import Check
from specpipe.minds.costs import PassCosts
from specpipe.minds.verifying import Shape, Verifying
from specpipe.minds.work import Pass, Prefill
from specpipe.words import planted
from specpipe.words import prefix as prefixes
from specpipe.words.messages import Close, Edges, Open, Recall, Resync, Verdict
from specpipe.words.sampling import Mode
from specpipe.words.sampling import Shape as CheckShape
from tests.minds.house import texts_of
from tests.minds.messages import edges
from tests.minds.requests import opening
from tests.minds.slab import Slab

W = (0.7, 0.2)
STEP = 0.005


def mind(
    requests: int = 2, context: int = 200, prefill_rows: int = 16, block_rows: int = 1, row: float = 0.0
) -> Verifying:
    """Return a verifier's mind; a pass takes a tenth of a second, and `row` for each row more."""
    costs = PassCosts({1: 0.1, 65: 0.1 + 64 * row})
    return Verifying(Shape(requests, context, prefill_rows, block_rows), costs)


def target(prefix: int) -> int:
    """Return what the target writes after a prefix."""
    return planted.truth(prefix, W)


def truth(request: Open, count: int) -> list[int]:
    """Return what the target writes after what is known of a request."""
    prefix = prefixes.extend(prefixes.origin(request.request), [*request.prompt.tolist(), *request.committed.tolist()])
    tokens = []
    for _ in range(count):
        tokens.append(target(prefix))
        prefix = prefixes.child(prefix, tokens[-1])
    return tokens


def chain(request: Open, tokens: Sequence[int], after: Sequence[int] = (), chance: float = 0.9) -> Edges:
    """Return edges of a chain that hangs after some output tokens."""
    parent = prefixes.extend(prefixes.origin(request.request), [*request.prompt.tolist(), *after])
    links = []
    for token in tokens:
        links.append((parent, token))
        parent = prefixes.child(parent, token)
    return edges(links, request=request.request, chance=chance)


def settle(made: Verifying, work: Pass, now: float = 1.0) -> list[Verdict]:
    """Let the target judge a pass."""
    tokens = [target(prefix) for prefix in work.batch.prefixes.tolist()]
    return made.settle(work, tokens, [-0.5] * len(tokens), now, now + 0.1)


def turn(made: Verifying, now: float = 1.0, slab: Slab | None = None) -> list[Verdict] | None:
    """Run what there is to run; return the verdicts, or None where there is nothing."""
    work = made.plan(now)
    if work is None:
        return None
    if slab:
        slab.run(work.batch, texts_of(work))
    if isinstance(work, Prefill):
        made.settle_prefill(work)
        return []
    verdicts = settle(made, work, now)
    if slab:
        slab.follow(made)
    return verdicts


def finish(made: Verifying, feed: Callable[[], Edges | None] = lambda: None, most: int = 500) -> list[Verdict]:
    """Run until there is nothing to run; return all verdicts."""
    slab = Slab()
    verdicts: list[Verdict] = []
    for now in range(most):
        if drafted := feed():
            made.handle(drafted, float(now))
        done = turn(made, float(now), slab)
        if done is None and made.wake() is None:
            return verdicts
        verdicts += done or []
    raise AssertionError("it never rests")


def tokens(verdicts: Sequence[Verdict]) -> list[int]:
    """Return all tokens; each verdict continues the one before."""
    out: list[int] = []
    for verdict in verdicts:
        assert verdict.start == len(out)
        out += verdict.tokens.tolist()
    return out


def drafting(made: Verifying, request: Open, right: int) -> Callable[[], Edges]:
    """Return a drafter that gives chains of which the first `right` tokens are right, and one more that is not."""

    def feed() -> Edges:
        done = made._checks[request.request].tokens[len(request.prompt) :] if made.standing else []
        known = opening(request.request, prompt=request.prompt.tolist(), committed=done)
        return chain(request, [*truth(known, right), 4095], done)

    return feed


@pytest.mark.parametrize("right", [0, 1, 3, 8])
@pytest.mark.parametrize("max_tokens", [1, 2, 5, 8, 9, 10, 40])
def test_the_budget_is_met_exactly(right: int, max_tokens: int) -> None:
    """However long the blocks are that cross it (case A23)."""
    made, request = mind(), opening(max_tokens=max_tokens)
    made.handle(request, 0.0)
    verdicts = finish(made, drafting(made, request, right))

    assert tokens(verdicts) == truth(request, max_tokens)
    assert [verdict.finish for verdict in verdicts] == [""] * (len(verdicts) - 1) + ["length"]


@pytest.mark.parametrize("right", [0, 3, 8])
@pytest.mark.parametrize("at", range(10))
def test_a_stop_token_ends_the_text_wherever_it_lies_in_a_block(right: int, at: int) -> None:
    """At every place in a block, as accepted token, correction and bonus (case A01)."""
    request = opening(max_tokens=40)
    plain = truth(request, 40)
    stopping = opening(max_tokens=40, stop_tokens=[plain[at]])
    made = mind()
    made.handle(stopping, 0.0)
    verdicts = finish(made, drafting(made, stopping, right))

    assert tokens(verdicts) == plain[: plain.index(plain[at]) + 1]
    assert verdicts[-1].finish == "stop"


@pytest.mark.parametrize("right", [0, 3, 8])
@pytest.mark.parametrize(("prompt", "count"), [(50, 14), (62, 2), (63, 1), (3, 61)])
def test_the_context_is_filled_exactly(right: int, prompt: int, count: int) -> None:
    """To its last position and no further, however far was drafted (cases B07, B09)."""
    made, request = mind(context=64), opening(prompt=range(prompt), max_tokens=1000)
    made.handle(request, 0.0)
    verdicts = finish(made, drafting(made, request, right))

    assert tokens(verdicts) == truth(request, count)
    assert verdicts[-1].finish == "length"


@pytest.mark.parametrize("prompt", [64, 65])
def test_a_request_without_room_ends_at_once(prompt: int) -> None:
    """It is no reason to run anything, nor to leave anyone waiting."""
    made = mind(context=64)
    verdicts = made.handle(opening(prompt=range(prompt)), 0.0)

    assert [(verdict.finish, len(verdict.tokens)) for verdict in verdicts] == [("length", 0)]
    assert made.plan(0.0) is None


@pytest.mark.parametrize("prompt", [1, 2, 16, 17, 18, 33, 60])
@pytest.mark.parametrize("committed", [0, 1, 7, 8, 9, 30])
def test_a_prompt_is_cut_the_same_way_in_every_life(prompt: int, committed: int) -> None:
    """All but its last token in chunks that begin at multiples; what was committed in decoding widths."""
    made, slab = mind(), Slab()
    request = opening(prompt=range(prompt), committed=range(committed), life=bool(committed))
    made.handle(request, 0.0)
    wide: list[tuple[int, int]] = []
    narrow: list[tuple[int, int]] = []
    while isinstance(work := made.plan(0.0), Prefill):
        slab.run(work.batch, texts_of(work))
        (wide if work.wide else narrow).append((int(work.batch.slots[0]), len(work.batch)))
        made.settle_prefill(work)
    assert isinstance(work, Pass)
    slab.run(work.batch, texts_of(work))

    assert wide == [(start, min(16, prompt - 1 - start)) for start in range(0, prompt - 1, 16)]
    assert narrow == [(prompt - 1 + at, min(8, committed - at)) for at in range(0, committed, 8)]
    assert work.batch.slots.tolist() == work.batch.positions.tolist() == [prompt + committed - 1]


def test_what_was_committed_before_a_death_is_computed_in_blocks_of_the_devices_width() -> None:
    """Where passes are padded to more rows than eight."""
    made = mind(block_rows=12)
    made.handle(opening(prompt=[1], committed=range(30), life=1), 0.0)
    lengths = []
    while isinstance(work := made.plan(0.0), Prefill):
        lengths.append((len(work.batch), work.wide))
        made.settle_prefill(work)

    assert lengths == [(12, False), (12, False), (6, False)]


def test_a_reopened_request_counts_what_was_committed() -> None:
    """The budget, the starts of verdicts and the text go on where they were."""
    made, request = mind(), opening(max_tokens=10)
    plain = truth(request, 10)
    made.handle(opening(max_tokens=10, committed=plain[:4], life=3), 0.0)
    verdicts = finish(made)

    assert [verdict.start for verdict in verdicts] == [4, 5, 6, 7, 8, 9]
    assert [token for verdict in verdicts for token in verdict.tokens.tolist()] == plain[4:]
    assert {verdict.life for verdict in verdicts} == {3}


def test_prompts_take_turns_with_passes() -> None:
    """A long prompt does not stop the others, nor they it."""
    made = mind()
    made.handle(opening(1, prompt=[1]), 0.0)
    turn(made)
    made.handle(opening(2, prompt=range(100)), 0.0)
    kinds = []
    for _ in range(8):
        work = made.plan(1.0)
        kinds.append(type(work))
        if isinstance(work, Prefill):
            made.settle_prefill(work)
        elif work is not None:
            settle(made, work)

    assert kinds == [Prefill, Pass] * 4


def test_every_open_request_is_in_every_pass() -> None:
    """With or without drafts; each gets a verdict of its own."""
    made = mind(requests=3)
    requests = [opening(number, prompt=[number]) for number in (1, 2, 3)]
    for request in requests:
        made.handle(request, 0.0)
    drafted = truth(requests[1], 2)
    made.handle(chain(requests[1], drafted), 0.0)
    work = made.plan(9.0)
    assert isinstance(work, Pass)
    verdicts = settle(made, work)

    assert [check.request.request for check in work.checks] == [1, 2, 2, 2, 3]
    assert [(verdict.request, verdict.checked) for verdict in verdicts] == [(1, 0), (2, 2), (3, 0)]
    assert verdicts[1].tokens.tolist() == truth(requests[1], 3)
    assert verdicts[1].log_p.tolist() == [-0.5] * 3


def test_a_verdict_says_whether_the_new_root_had_been_drafted() -> None:
    """Also where the correction was an alternative, and where only its continuation had arrived."""
    made, request = mind(), opening(1, prompt=[1])
    plain = truth(request, 3)
    made.handle(request, 0.0)
    made.handle(chain(request, [4095], chance=0.9), 0.0)
    made.handle(chain(request, plain[:1], chance=0.2), 0.0)
    first = turn(made) or []
    made.handle(chain(request, [7], after=plain[:2]), 1.0)
    second = turn(made) or []
    third = turn(made, 100.0) or []

    assert [verdict.hit for verdict in first + second + third] == [True, True, False]


def test_edges_in_any_order_before_and_after_the_opening_change_no_token() -> None:
    """Edges of requests that are not open are dropped; those of dead branches are never reached."""
    made, request = mind(), opening(max_tokens=6)
    plain = truth(request, 6)
    made.handle(chain(request, plain[:3]), 0.0)
    made.handle(request, 0.0)
    made.handle(chain(request, [9, 9], after=[8, 8]), 0.0)
    made.handle(chain(request, plain[2:4], after=plain[:2]), 0.0)

    assert tokens(finish(made)) == plain


def test_a_gap_is_mended_for_whoever_asks() -> None:
    """The coordinator's recall and the drafter's resync get all that was committed from there on, and the end."""
    made, request = mind(), opening(max_tokens=5)
    plain = truth(request, 5)
    made.handle(request, 0.0)
    finish(made)

    for question in (Recall(request=1, start=2), Resync(request=1, start=2)):
        (answer,) = made.handle(question, 9.0)
        assert (answer.start, answer.tokens.tolist(), answer.finish) == (2, plain[2:], "length")
        assert (answer.began, answer.ended, len(answer.log_p)) == (0.0, 0.0, 3)
    assert made.handle(Recall(request=1, start=5), 9.0) == []
    assert made.handle(Resync(request=7, start=0), 9.0) == []


def test_an_opening_that_comes_again_takes_nothing_back() -> None:
    """Only a later life replaces what is open."""
    made, request = mind(), opening(1, prompt=[1], life=1)
    made.handle(request, 0.0)
    turn(made)
    made.handle(opening(1, prompt=[1], life=1), 0.0)
    made.handle(opening(1, prompt=[1], life=0), 0.0)
    kept = made._checks[1].output
    made.handle(opening(1, prompt=[1], life=2), 0.0)

    assert kept == 1
    assert made._checks[1].output == 0
    assert sorted([made._checks[1].lane, *made._lanes]) == [0, 1]


@pytest.mark.parametrize("reopened", [False, True])
def test_a_pass_over_a_request_that_was_closed_meanwhile_says_nothing_of_it(reopened: bool) -> None:
    """The other request's verdict is not disturbed."""
    made = mind()
    made.handle(opening(1, prompt=[1]), 0.0)
    made.handle(opening(2, prompt=[2]), 0.0)
    made.handle(chain(opening(1, prompt=[1]), truth(opening(1, prompt=[1]), 2)), 0.0)
    work = made.plan(9.0)
    assert isinstance(work, Pass)
    made.handle(Close(request=1), 0.0)
    if reopened:
        made.handle(opening(1, prompt=[1], life=1), 0.0)
    verdicts = settle(made, work)

    assert [(verdict.request, verdict.tokens.tolist()) for verdict in verdicts] == [
        (2, truth(opening(2, prompt=[2]), 1))
    ]


def test_no_more_requests_are_taken_than_there_are_lanes_and_none_is_lost() -> None:
    """A closed request's lane is the next one's."""
    made = mind(requests=2)
    for number in (1, 2, 3):
        made.handle(opening(number), 0.0)
    made.handle(Close(request=1), 0.0)
    made.handle(Close(request=1), 0.0)
    made.handle(opening(4), 0.0)

    assert list(made.standing) == [2, 4]
    assert sorted(check.lane for check in made._checks.values()) == [0, 1]


def test_a_tree_is_checked_in_one_pass_and_what_was_right_is_put_in_its_place() -> None:
    """The accepted branch is moved behind the root; first choices lie there already."""
    made, request, slab = mind(), opening(1, prompt=[1], check="tree"), Slab()
    plain = truth(request, 4)
    made.handle(request, 0.0)
    made.handle(chain(request, [4095, 4094], chance=0.9), 0.0)
    made.handle(chain(request, plain[:3], chance=0.8), 0.0)
    work = made.plan(9.0)
    assert isinstance(work, Pass)
    slab.run(work.batch, texts_of(work))
    (told,) = settle(made, work)
    (move,) = made.moves

    assert work.batch.positions.tolist() == [0, 1, 2, 1, 2, 3]
    assert work.batch.slots.tolist() == [0, 1, 2, 3, 4, 5]
    assert told.tokens.tolist() == plain
    assert (told.checked, told.chain, told.right) == (5, 2, 0)
    assert (move.lane, move.sources.tolist(), move.targets.tolist()) == (work.checks[0].lane, [3, 4, 5], [1, 2, 3])


def test_the_first_choices_of_a_tree_need_no_move() -> None:
    """They follow the root already."""
    made, request = mind(), opening(1, prompt=[1], check="tree")
    made.handle(request, 0.0)
    made.handle(chain(request, [4095], chance=0.2), 0.0)
    made.handle(chain(request, truth(request, 2), chance=0.9), 0.0)
    (told,) = turn(made, 9.0) or []

    assert told.tokens.tolist() == truth(request, 3)
    assert (told.checked, told.chain, told.right) == (3, 2, 2)
    assert made.moves == []


def test_target_mode_runs_plainly_whatever_arrives() -> None:
    """A row a pass, and no waiting."""
    made, request = mind(), opening(mode="target", max_tokens=4)
    made.handle(request, 0.0)
    verdicts = finish(made, drafting(made, request, 3))

    assert tokens(verdicts) == truth(request, 4)
    assert [verdict.checked for verdict in verdicts] == [0] * 4


def hears(made: Verifying, request: int = 9, now: float = 1.0) -> None:
    """Let the drafter be heard of, without edges of any use."""
    made.handle(edges([(1, 1)], request=request, step_s=STEP), now)


@pytest.mark.parametrize("nodes", [1, 3, 5])
def test_a_sequential_request_waits_for_its_whole_block(nodes: int) -> None:
    """And then checks exactly as many as it says."""
    made, request = mind(), opening(1, prompt=[1], mode="sequential", nodes=nodes, max_tokens=20)
    plain = truth(request, 20)
    made.handle(request, 1.0)
    hears(made)
    for count in range(1, nodes + 1):
        assert made.plan(1.0) is None
        made.handle(chain(request, plain[count - 1 : count], after=plain[: count - 1]), 1.0)
    work = made.plan(1.0)

    assert isinstance(work, Pass)
    assert len(work.batch) == 1 + nodes


def test_the_first_block_of_all_is_waited_for_as_well() -> None:
    """Nobody has to be heard of before; and a drafter that was slow for a pipelined request may still bring it."""
    made, request = mind(), opening(1, prompt=[1], mode="sequential", nodes=2)
    made.handle(request, 1.0)
    assert made.plan(1.0) is None
    made.patience.quiet = True
    made.handle(chain(request, [4]), 1.1)
    made.patience.quiet = True
    assert made.plan(1.1) is None
    made.handle(chain(request, [5], after=[4]), 1.2)
    work = made.plan(1.2)

    assert isinstance(work, Pass)
    assert len(work.batch) == 3


def test_a_slow_drafters_block_is_waited_for_as_long_as_it_grows() -> None:
    """Each edge gives the next one its time."""
    made, request = mind(), opening(prompt=[1], mode="sequential", nodes=5)
    made.handle(request, 1.0)
    hears(made)
    for count in range(5):
        now = 1.0 + 0.2 * count
        assert made.plan(now) is None
        made.handle(chain(request, [count], after=range(count)), now)

    assert isinstance(made.plan(2.0), Pass)


@pytest.mark.parametrize(("drafted", "checked"), [([3, 50], 1), ([3, 9], 2), ([3], 1)])
def test_an_end_that_was_foreseen_is_no_wrong_guess(drafted: list[int], checked: int) -> None:
    """Of guesses that are all right, the last one the stop token, all that count as checked were accepted."""
    made, request = mind(), opening(1, prompt=[1], mode="sequential", nodes=len(drafted), stop_tokens=[50])
    made.handle(request, 1.0)
    made.handle(chain(request, drafted), 1.0)
    work = made.plan(1.0)
    assert isinstance(work, Pass)
    (told,) = made.settle(work, [3, 50, 7][: len(work.batch)], [0.0] * len(work.batch), 1.0, 2.0)

    assert told.tokens.tolist() == [3, 50]
    assert told.finish == "stop"
    assert (told.checked, told.chain) == (checked, checked)


def test_a_sequential_block_is_whole_where_the_text_must_end() -> None:
    """A stop token or the budget makes it shorter."""
    made, stopping = mind(), opening(1, prompt=[1], mode="sequential", nodes=5, stop_tokens=[50])
    short = opening(2, prompt=[2], mode="sequential", nodes=5, max_tokens=3)
    made.handle(stopping, 1.0)
    made.handle(short, 1.0)
    hears(made)
    assert made.plan(1.0) is None
    made.handle(chain(stopping, [3, 50]), 1.0)
    made.handle(chain(short, [1, 2]), 1.0)
    work = made.plan(1.0)

    assert isinstance(work, Pass)
    assert len(work.batch) == 5


def test_a_sequential_block_that_never_comes_is_given_up() -> None:
    """Even while others' edges keep arriving; from then on nothing is waited for until the drafter is heard."""
    made, request = mind(), opening(1, prompt=[1], mode="sequential", nodes=5)
    made.handle(request, 1.0)
    hears(made)
    now = 1.0
    while made.plan(now) is None:
        assert now < 3.0
        now = min(made.wake() or now, now + 0.004)
        hears(made, now=min(now, 1.25))
    turn(made, now)

    assert 1.25 < now < 1.35
    assert isinstance(made.plan(now), Pass)
    hears(made, now=now)
    assert made.plan(now) is None


def test_one_who_waits_for_a_block_does_not_hold_up_the_others() -> None:
    """Passes over the others go on without it."""
    made = mind()
    made.handle(opening(1, prompt=[1], mode="sequential", nodes=5), 1.0)
    made.handle(opening(2, prompt=[2], mode="target"), 1.0)
    hears(made)
    work = made.plan(1.0)

    assert isinstance(work, Pass)
    assert [check.request.request for check in work.checks] == [2]


@pytest.mark.parametrize(("opened", "earlier"), [(1.0, 1.013), (1.295, 1.3)])
def test_the_earlier_of_two_reasons_to_wake_counts(opened: float, earlier: float) -> None:
    """A pipelined request's next edges, or a sequential one's deadline."""
    made = mind()
    made.handle(opening(1, prompt=[1], mode="sequential", nodes=5), 1.0)
    made.handle(opening(2, prompt=[2]), opened)
    for _ in range(100):
        hears(made, now=opened)

    assert made.plan(opened) is None
    assert made.wake() == pytest.approx(earlier, abs=0.001)


def test_passes_are_chosen_at_the_width_that_they_are_padded_to() -> None:
    """Rows up to a whole block cost nothing, so they are used."""
    made, request = mind(block_rows=8, row=0.05), opening(prompt=[1], max_tokens=100)
    made.handle(request, 1.0)
    made.handle(chain(request, [4095] * 20, chance=0.99), 1.0)
    work = made.plan(1.0)

    assert isinstance(work, Pass)
    assert len(work.batch) == 16


def test_the_time_of_a_pass_is_that_of_its_padded_width() -> None:
    """A pass of four rows teaches what eight cost."""
    made, request = mind(block_rows=8, row=0.05), opening(prompt=[1], max_tokens=100)
    made.handle(request, 1.0)
    made.handle(chain(request, [4095] * 3, chance=0.99), 1.0)
    work = made.plan(9.0)
    assert isinstance(work, Pass)
    before = made.costs.seconds(8)
    made.settle(work, [0] * 4, [0.0] * 4, 9.0, 9.0 + 0.1)

    assert len(work.batch) == 4
    assert made.costs.seconds(8) == pytest.approx(0.1)
    assert before > 0.4


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_whatever_happens_the_text_is_the_targets_and_the_slab_in_order(seed: int) -> None:
    """Opens, closes, later lives, right and wrong edges, repeats: committed tokens only grow within a life."""
    rng = random.Random(seed)
    made, slab = mind(requests=2, context=40, prefill_rows=4), Slab()
    lives = {1: 0, 2: 0, 3: 0}
    written: dict[tuple[int, int], list[int]] = {}
    for turned in range(120):
        now = turned / 50
        for verdict in [*_disturb(made, rng, lives, now), *(turn(made, now, slab) or [])]:
            _note(made, verdict, written)
        assert sorted([*made._lanes, *(check.lane for check in made._checks.values())]) == [0, 1]


def _note(made: Verifying, verdict: Verdict, written: dict[tuple[int, int], list[int]]) -> None:
    """Put a verdict behind what was written, and hold it against the target."""
    check = made._checks[verdict.request]
    base = len(check.request.committed)
    done = written.setdefault((verdict.request, verdict.life), [])
    assert verdict.life == check.request.life
    assert base <= verdict.start <= base + len(done)
    whole = done[: verdict.start - base] + verdict.tokens.tolist()
    assert whole[: len(done)] == done
    assert whole == truth(check.request, len(whole))
    assert len(check.tokens) <= 40
    assert check.output <= check.request.ending.max_tokens
    written[verdict.request, verdict.life] = whole


def _disturb(made: Verifying, rng: random.Random, lives: dict[int, int], now: float) -> list[Verdict]:
    number, move = rng.choice(sorted(lives)), rng.random()
    if move < 0.1:
        lives[number] += 1
        modes: list[Mode] = ["pipelined", "sequential", "target"]
        shapes: list[CheckShape] = ["chain", "tree", "auto"]
        prompt = rng.sample(range(50), rng.randrange(1, 12))
        committed = rng.sample(range(50), rng.randrange(10))
        request = opening(
            number,
            life=lives[number],
            prompt=prompt,
            committed=committed,
            max_tokens=len(committed) + rng.randrange(1, 20),
            mode=rng.choice(modes),
            nodes=rng.randrange(4),
            check=rng.choice(shapes),
        )
        return made.handle(request, now)
    if move < 0.13:
        made.handle(Close(request=number), now)
    elif move < 0.7 and number in made.standing:
        made.handle(_edges(made._checks[number], rng), now)
    elif number in made.standing and made._checks[number].output > len(made._checks[number].request.committed):
        start = rng.randrange(len(made._checks[number].request.committed), made._checks[number].output)
        return made.handle(Resync(request=number, start=start), now)
    return []


def _edges(check: Check, rng: random.Random) -> Edges:
    parent = check.root.prefix
    for _ in range(rng.randrange(4)):
        parent = prefixes.child(parent, target(parent))
    links = []
    for _ in range(rng.randrange(1, 6)):
        token = target(parent) if rng.random() < 0.8 else 4095
        links += [(parent, token), (parent, rng.randrange(4096))][: rng.randrange(1, 3)]
        parent = prefixes.child(parent, token)
    rng.shuffle(links)
    return edges(links, request=check.request.request, chance=rng.choice([0.5, 0.9, 7.0, 0.0]))
