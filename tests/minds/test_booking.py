"""The coordinator's mind: admission, placement, recovery, and exactly one end for each request."""

import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specpipe.errors import RequestError
from specpipe.minds.actions import Action, ToClient, ToWorker
from specpipe.minds.booking import Booking
from specpipe.words.messages import (
    Ask,
    Cancel,
    Close,
    Delta,
    Failed,
    Finished,
    Gone,
    Greet,
    Halt,
    Look,
    Message,
    Open,
    Peer,
    Recall,
    Started,
    Status,
    Stop,
    Unserved,
    Verdict,
)
from specpipe.words.messages.fields import Role
from tests.minds.house import Texts, ends, text_told, tokens_told
from tests.minds.messages import ask, hello, pulse, verdict

ANN, BOB = b"ann", b"bob"
DRAFTER, VERIFIER = b"drafter-1", b"verifier-1"


class Desk:
    """A coordinator's mind with workers or without, and everything that it sent."""

    def __init__(
        self, *roles: Role, lanes: int = 2, context: int = 64, waiting: int = 4, texts: Texts | None = None
    ) -> None:
        self.booking = Booking(texts or Texts(), waiting, draw_seed=lambda: 77)
        self.sent: list[Action] = []
        self.now = 1.0
        for role in roles:
            self.worker(f"{role}-1".encode(), hello(role, lanes=lanes, context=context, pid=1))

    def worker(self, peer: bytes, message: Message) -> list[Action]:
        """Let a worker say something; return what is sent for it."""
        self.now += 0.1
        return self._note(self.booking.worker_said(peer, message, self.now))

    def client(self, peer: bytes, message: Message) -> list[Action]:
        """Let a client say something; return what is sent for it."""
        self.now += 0.1
        return self._note(self.booking.client_said(peer, message, self.now))

    def gone(self, role: Role, *, final: bool = False, pid: int = 1) -> list[Action]:
        """Let the supervisor say that a worker is gone."""
        return self.worker(b"supervisor", Gone(role=role, pid=pid, final=final, reason="killed", secret=""))

    def beat(self, peer: bytes, role: Role, standing: dict[int, tuple[int, int]] | None = None) -> list[Action]:
        """Let a worker beat."""
        return self.worker(peer, pulse(role, standing))

    def told(self, client: bytes, key: int) -> list[Message]:
        """Return what a client was told of one of its requests."""
        return [
            action.message
            for action in self.sent
            if isinstance(action, ToClient) and action.peer == client and getattr(action.message, "key", None) == key
        ]

    def _note(self, actions: list[Action]) -> list[Action]:
        self.sent += actions
        return actions


def both() -> Desk:
    """Return a coordinator with a drafter and a verifier."""
    return Desk("drafter", "verifier")


def to_workers(actions: Sequence[Action]) -> list[tuple[bytes, type[Message]]]:
    """Return who is sent which kind of message."""
    return [(action.peer, type(action.message)) for action in actions if isinstance(action, ToWorker)]


def to_clients(actions: Sequence[Action]) -> list[tuple[bytes, type[Message]]]:
    """Return which client is sent which kind of message."""
    return [(action.peer, type(action.message)) for action in actions if isinstance(action, ToClient)]


def openings(actions: Sequence[Action]) -> list[tuple[bytes, Open]]:
    """Return what is opened where."""
    return [(action.peer, action.message) for action in actions if isinstance(action.message, Open)]


def failure(actions: Sequence[Action]) -> Failed:
    """Return the only message, which is a failure."""
    (message,) = [action.message for action in actions if isinstance(action, ToClient)]
    assert isinstance(message, Failed)
    return message


def test_a_request_is_started_and_opened_at_both_workers() -> None:
    """The client learns seed and length; the workers get the same opening."""
    actions = both().client(ANN, ask(3, ids=[1, 2], seed=5))
    opened = openings(actions)
    (started,) = [action.message for action in actions if isinstance(action.message, Started)]

    assert (started.key, started.seed, started.prompt_tokens) == (3, 5, 2)
    assert [peer for peer, _ in opened] == [DRAFTER, VERIFIER]
    assert opened[0][1] is opened[1][1]
    assert opened[0][1].prompt.tolist() == [1, 2]


def test_a_request_without_a_seed_gets_one_that_is_told() -> None:
    """Drawn by the coordinator, and the same at both workers."""
    actions = both().client(ANN, ask())

    assert [action.message.seed for action in actions if isinstance(action.message, Started)] == [77]
    assert {opened.sampling.seed for _, opened in openings(actions)} == {77}


def test_target_mode_has_no_drafter() -> None:
    """The drafter never hears of it, but for a close, which is no fault."""
    assert [peer for peer, _ in openings(both().client(ANN, ask(mode="target")))] == [VERIFIER]


def test_requests_wait_for_a_verifier_and_then_for_a_lane() -> None:
    """First come, first served; each end lets the next one in."""
    desk = Desk("drafter")
    for key in range(4):
        assert desk.client(ANN, ask(key)) == []
    arrived = desk.worker(VERIFIER, hello("verifier"))
    ended = desk.worker(VERIFIER, verdict([1], finish="stop"))

    assert [(peer, kind) for peer, kind in to_workers(arrived) if kind is Peer] == [(DRAFTER, Peer)]
    assert [action.message.key for action in arrived if isinstance(action.message, Started)] == [0, 1]
    assert [action.message.key for action in ended if isinstance(action.message, Started)] == [2]


def test_no_more_wait_than_the_queue_holds() -> None:
    """The next one is told to try later; when one has left there is room again."""
    desk = Desk("verifier", lanes=1, waiting=2)
    for key in range(3):
        desk.client(ANN, ask(key))

    assert failure(desk.client(ANN, ask(3))).kind == "busy"
    desk.client(ANN, Cancel(key=2))
    assert desk.client(ANN, ask(4)) == []


def test_without_a_queue_a_free_lane_still_serves() -> None:
    """Nothing may wait, but nothing has to."""
    desk = Desk("verifier", lanes=1, waiting=0)

    assert to_clients(desk.client(ANN, ask(1))) == [(ANN, Started)]
    assert failure(desk.client(ANN, ask(2))).kind == "busy"


@pytest.mark.parametrize(("length", "budget"), [(62, 2), (63, 1), (64, None), (65, None)])
def test_a_prompt_near_the_context_gets_what_is_left_or_is_refused(length: int, budget: int | None) -> None:
    """Two tokens, one token, and a sentence (case B09)."""
    desk = both()
    actions = desk.client(ANN, ask(max_tokens=0, ids=range(length)))

    if budget:
        assert {opened.ending.max_tokens for _, opened in openings(actions)} == {budget}
    else:
        assert failure(actions).kind == "refused"
        assert "64" in failure(actions).reason
        assert to_clients(desk.client(ANN, ask(2))) == [(ANN, Started)]


def test_many_hopeless_requests_that_waited_are_all_refused() -> None:
    """However many there are, and the one behind them is served."""
    desk = Desk(waiting=5000)
    for key in range(3000):
        desk.client(ANN, ask(key, ids=range(64)))
    desk.client(ANN, ask(3000))
    actions = desk.worker(VERIFIER, hello("verifier"))

    assert sum(isinstance(action.message, Failed) for action in actions) == 3000
    assert to_clients(actions)[-1] == (ANN, Started)


class Refusing(Texts):
    """Refuses some prompts and stop strings, as a tokenizer does."""

    def prompt(self, ask: Ask) -> list[int]:
        """Return the ids; refuse 13."""
        if 13 in ask.ids:
            raise RequestError("no thirteen here")
        return super().prompt(ask)


@pytest.mark.parametrize(
    ("request_", "word"),
    [
        (ask(ids=[13]), "thirteen"),
        (ask(ids=[]), "empty"),
        (ask(ids=[1, 4096]), "vocabulary"),
        (ask(stop=["\ud83d"]), "stop string"),
        (ask(stop=["fine", ""]), "stop string"),
    ],
)
def test_what_cannot_be_served_is_refused_and_nobody_else_notices(request_: Ask, word: str) -> None:
    """With a sentence that names what is wrong; the next request is fine (cases B10, E06)."""
    desk = Desk("drafter", "verifier", texts=Refusing())
    refused = failure(desk.client(ANN, request_))

    assert refused.kind == "refused"
    assert word in refused.reason
    assert to_clients(desk.client(ANN, ask(2))) == [(ANN, Started)]


def test_verdicts_become_text_and_ids_and_the_end() -> None:
    """One delta for each, then one end, which closes the request at both workers."""
    desk = both()
    desk.client(ANN, ask(3, ids=[1, 2]))
    more = desk.worker(VERIFIER, verdict([4, 5], checked=3))
    end = desk.worker(VERIFIER, verdict([6], 2, finish="length"))
    finished = end[1].message

    assert to_clients(more) == [(ANN, Delta)]
    assert to_clients(end) == [(ANN, Delta), (ANN, Finished)]
    assert to_workers(end) == [(DRAFTER, Close), (VERIFIER, Close)]
    assert isinstance(finished, Finished)
    assert (finished.finish_reason, finished.completion_tokens, finished.prompt_tokens) == ("length", 3, 2)
    assert (finished.stats.passes, finished.stats.accepted_tokens, finished.stats.checked_tokens) == (2, 1, 3)
    assert tokens_told(desk.told(ANN, 3)) == [4, 5, 6]
    assert text_told(desk.told(ANN, 3)) == "t4 t5 t6 "
    assert desk.worker(VERIFIER, verdict([6], 2, finish="length")) == []


@pytest.mark.parametrize("block", range(1, 7))
@pytest.mark.parametrize("stops", [["4 t5", "t2"], ["t2", "4 t5"], ["2 t3"]])
def test_a_stop_string_cuts_ids_and_text_wherever_it_lies_in_a_block(block: int, stops: list[str]) -> None:
    """At the earliest match, whichever way blocks fall and stops are listed (cases A03, A04)."""
    desk = both()
    desk.client(ANN, ask(stop=stops))
    written = [1, 2, 3, 4, 5, 6]
    for start in range(0, 6, block):
        desk.worker(VERIFIER, verdict(written[start : start + block], start))
    messages = desk.told(ANN, 1)
    (end,) = ends(messages)

    assert isinstance(end, Finished)
    assert (tokens_told(messages), text_told(messages)) == (([1, 2], "t1 ") if "t2" in stops else ([1, 2, 3], "t1 t"))
    assert (end.finish_reason, end.completion_tokens) == ("stop", len(tokens_told(messages)))
    assert messages[-1] is end


def test_a_stop_string_that_stays_incomplete_is_told_at_the_end() -> None:
    """What was held back is text when nothing more can come."""
    desk = both()
    desk.client(ANN, ask(stop=["t5 t9"]))
    desk.worker(VERIFIER, verdict([4, 5]))
    held = text_told(desk.told(ANN, 1))
    desk.worker(VERIFIER, verdict([], 2, finish="length"))

    assert held == "t4 "
    assert text_told(desk.told(ANN, 1)) == "t4 t5 "
    assert [type(each) for each in ends(desk.told(ANN, 1))] == [Finished]


@pytest.mark.parametrize("stops", [["t2 "], ["2", "t2 t3"]])
def test_a_stop_string_that_the_budget_completes_counts_as_a_stop(stops: list[str]) -> None:
    """Also one that is known for certain only because nothing more can come."""
    desk = both()
    desk.client(ANN, ask(stop=stops))
    desk.worker(VERIFIER, verdict([1, 2], finish="length"))
    (end,) = ends(desk.told(ANN, 1))

    assert isinstance(end, Finished)
    assert end.finish_reason == "stop"
    assert text_told(desk.told(ANN, 1)).startswith("t1 ")


def test_a_gap_is_asked_for_and_what_came_again_counts_once() -> None:
    """Nothing is told out of order, repeated verdicts add nothing, and a recalled one is no pass."""
    desk = both()
    desk.client(ANN, ask())
    desk.worker(VERIFIER, verdict([1]))
    asked = desk.worker(VERIFIER, verdict([4, 5], 3))
    desk.worker(VERIFIER, verdict([2, 3, 4, 5], 1, began=0.0, ended=0.0))
    desk.worker(VERIFIER, verdict([4, 5], 3))
    desk.worker(VERIFIER, verdict([1]))
    end = desk.worker(VERIFIER, verdict([6], 5, finish="stop"))
    (recall,) = [action.message for action in asked]
    (finished,) = [action.message for action in end if isinstance(action.message, Finished)]

    assert isinstance(recall, Recall)
    assert (recall.request, recall.start) == (1, 1)
    assert to_workers(asked) == [(VERIFIER, Recall)]
    assert tokens_told(desk.told(ANN, 1)) == [1, 2, 3, 4, 5, 6]
    assert finished.stats.passes == 2


def test_verdicts_of_an_older_life_or_another_worker_are_ignored() -> None:
    """Whatever they say."""
    desk = both()
    desk.client(ANN, ask())
    desk.gone("verifier")
    desk.worker(b"verifier-2", hello("verifier", pid=2))

    assert desk.worker(b"verifier-2", verdict([9], life=0)) == []
    assert desk.worker(VERIFIER, verdict([9], life=1)) == []
    assert desk.worker(DRAFTER, verdict([9], life=1)) == []
    assert to_clients(desk.worker(b"verifier-2", verdict([1], life=1))) == [(ANN, Delta)]


def test_a_verifier_that_comes_back_gets_everything_in_a_new_life() -> None:
    """So does the drafter, with the same prefix; the answer goes on where it was."""
    desk = both()
    desk.client(ANN, ask(1))
    desk.client(BOB, ask(2, mode="target"))
    desk.worker(VERIFIER, verdict([4, 5]))
    assert desk.gone("verifier") == []
    back = openings(desk.worker(b"verifier-2", hello("verifier", pid=2)))
    again = desk.worker(b"verifier-2", verdict([6], 2, life=1))

    assert [(peer, opened.request, opened.life) for peer, opened in back] == [
        (DRAFTER, 1, 1),
        (b"verifier-2", 1, 1),
        (b"verifier-2", 2, 1),
    ]
    assert back[1][1].committed.tolist() == [4, 5]
    assert tokens_told([action.message for action in again]) == [6]


def test_a_verifier_that_comes_back_smaller_ends_what_no_longer_fits() -> None:
    """Rather than leaving it open for ever."""
    desk = both()
    desk.client(ANN, ask(1, ids=range(30), max_tokens=0))
    desk.worker(VERIFIER, verdict([1]))
    desk.gone("verifier")
    actions = desk.worker(b"verifier-2", hello("verifier", pid=2, context=31))

    assert failure(actions).kind == "failed"
    assert openings(actions) == []


def test_a_drafter_that_comes_back_gets_what_is_committed_in_the_same_life() -> None:
    """The verifier goes on meanwhile and hears nothing of it."""
    desk = both()
    desk.client(ANN, ask(1))
    desk.client(BOB, ask(2, mode="target"))
    desk.worker(VERIFIER, verdict([4]))
    desk.gone("drafter")
    desk.worker(VERIFIER, verdict([5], 1))
    actions = desk.worker(b"drafter-2", hello("drafter", pid=2))
    opened = openings(actions)

    assert [(peer, opened.request, opened.life) for peer, opened in opened] == [(b"drafter-2", 1, 0)]
    assert opened[0][1].committed.tolist() == [4, 5]
    assert (b"drafter-2", Peer) in to_workers(actions)


def test_without_a_drafter_nothing_is_sent_to_one() -> None:
    """A close goes to those that are there."""
    desk = both()
    desk.client(ANN, ask(1))
    desk.gone("drafter", final=True)

    assert to_workers(desk.worker(VERIFIER, verdict([1], finish="stop"))) == [(VERIFIER, Close)]
    assert to_workers(desk.client(ANN, ask(2))) == [(VERIFIER, Open)]


def test_a_verifier_that_is_gone_for_good_fails_all_until_another_comes() -> None:
    """Those that run, those that wait, and those that ask now."""
    desk = Desk("drafter", "verifier", lanes=1)
    desk.client(ANN, ask(1))
    desk.client(BOB, ask(2))
    gone = desk.gone("verifier", final=True)
    late = failure(desk.client(ANN, ask(3)))
    desk.worker(b"verifier-2", hello("verifier", pid=2))

    assert sorted(to_clients(gone), key=lambda pair: pair[0]) == [(ANN, Failed), (BOB, Failed)]
    assert late.kind == "failed"
    assert to_clients(desk.client(ANN, ask(4))) == [(ANN, Started)]


def test_a_worker_that_does_not_fit_is_sent_home() -> None:
    """Its place stays with the one that is there."""
    desk = both()

    assert to_workers(desk.worker(b"x", hello("drafter", fingerprint="other"))) == [(b"x", Stop)]
    assert desk.booking.roster.is_from("drafter", DRAFTER)


def test_one_request_that_a_worker_cannot_go_on_with_fails_alone() -> None:
    """Only the verifier's word counts: without drafts everything goes on."""
    desk = both()
    desk.client(ANN, ask(1))
    desk.client(BOB, ask(2))
    ignored = desk.worker(DRAFTER, Unserved(request=1, reason="nan"))
    actions = desk.worker(VERIFIER, Unserved(request=1, reason="nan"))

    assert ignored == []
    assert to_clients(actions) == [(ANN, Failed)]
    assert "nan" not in failure(actions).reason
    assert desk.worker(VERIFIER, Unserved(request=1, reason="nan")) == []
    assert to_clients(desk.worker(VERIFIER, verdict([1], request=2))) == [(BOB, Delta)]


def test_a_cancelled_request_ends_once_and_leaves_its_lane() -> None:
    """Only its own client can cancel it; verdicts that were on their way are dropped."""
    desk = Desk("drafter", "verifier", lanes=1)
    desk.client(ANN, ask(1))
    desk.client(BOB, ask(1))
    nothing = desk.client(b"eve", Cancel(key=1))
    actions = desk.client(ANN, Cancel(key=1))

    assert nothing == []
    assert to_clients(actions) == [(ANN, Failed), (BOB, Started)]
    assert to_workers(actions)[:2] == [(DRAFTER, Close), (VERIFIER, Close)]
    assert desk.client(ANN, Cancel(key=1)) == []
    assert desk.worker(VERIFIER, verdict([1], request=1)) == []
    assert [type(each) for each in desk.told(ANN, 1)] == [Started, Failed]


def test_a_request_that_waits_can_be_cancelled_without_telling_the_workers() -> None:
    """They have never heard of it."""
    desk = Desk("verifier", lanes=1)
    desk.client(ANN, ask(1))
    desk.client(ANN, ask(2))
    actions = desk.client(ANN, Cancel(key=2))

    assert to_clients(actions) == [(ANN, Failed)]
    assert to_workers(actions) == []


def test_a_client_that_cannot_be_reached_loses_its_requests_and_nobody_elses() -> None:
    """It is told nothing, and the next in the queue takes its lane."""
    desk = Desk("drafter", "verifier", lanes=2)
    for client, key in ((ANN, 1), (BOB, 1), (ANN, 2), (BOB, 2)):
        desk.client(client, ask(key))
    actions = desk.booking.client_lost(ANN, 9.0)

    assert to_clients(actions) == [(BOB, Started)]
    assert [kind for _, kind in to_workers(actions)] == [Close, Close, Open, Open]
    assert desk.booking.client_lost(ANN, 9.0) == []


def test_a_halt_ends_every_request_and_sends_the_workers_home() -> None:
    """Nothing is admitted any more, and who comes now is sent home."""
    desk = Desk("drafter", "verifier", lanes=1)
    desk.client(ANN, ask(1))
    desk.client(BOB, ask(2))
    actions = desk.worker(b"supervisor", Halt(secret=""))

    assert to_clients(actions) == [(ANN, Failed), (BOB, Failed)]
    assert to_workers(actions)[-2:] == [(DRAFTER, Stop), (VERIFIER, Stop)]
    assert failure(desk.client(ANN, ask(3))).kind == "busy"
    desk.gone("verifier")
    assert to_workers(desk.worker(b"verifier-2", hello("verifier", pid=2))) == [(b"verifier-2", Stop)]
    assert to_workers(desk.beat(DRAFTER, "drafter")) == [(DRAFTER, Stop)]
    assert desk.worker(VERIFIER, verdict([1])) == []


def test_a_status_says_what_the_instance_is_and_did() -> None:
    """Totals count since the start; tokens beyond a stop string are not committed."""
    desk = both()
    desk.client(ANN, ask(1, stop=["t2"]))
    desk.worker(VERIFIER, verdict([1, 2, 3], checked=5, finish=""))
    desk.client(ANN, ask(2))
    desk.client(ANN, Cancel(key=2))
    desk.client(ANN, ask(3))
    desk.worker(VERIFIER, pulse("verifier", {3: (0, 0)}, counter=4, dropped=2))
    (status,) = [action.message for action in desk.client(BOB, Look())]

    assert isinstance(status, Status)
    assert (status.serving, status.open_requests) == (True, 1)
    assert (status.finished_requests, status.failed_requests) == (1, 1)
    assert (status.committed_tokens, status.passes) == (2, 1)
    assert (status.checked_tokens, status.accepted_tokens, status.dropped_frames) == (5, 2, 2)
    assert [worker.ready for worker in status.workers] == [True, True]


def test_a_pulse_of_someone_unknown_is_answered_by_a_greeting() -> None:
    """So that a worker whose hello was lost says it again, and serves."""
    desk = Desk("drafter")
    desk.client(ANN, ask(1))
    asked = to_workers(desk.beat(VERIFIER, "verifier"))
    arrived = desk.worker(VERIFIER, hello("verifier", pid=2))

    assert asked == [(VERIFIER, Greet)]
    assert to_clients(arrived) == [(ANN, Started)]
    assert to_workers(desk.worker(VERIFIER, hello("verifier", pid=2))) == []
    assert to_workers(desk.beat(VERIFIER, "verifier", {1: (0, 0)})) == []


def test_an_opening_that_two_pulses_do_not_name_is_sent_again() -> None:
    """One pulse may have left before it came; what is open in an older life is not open."""
    desk = both()
    desk.client(ANN, ask(1))
    desk.client(BOB, ask(2))
    first, second = (desk.beat(VERIFIER, "verifier", {1: (0, 0)}) for _ in range(2))
    third = desk.beat(VERIFIER, "verifier", {1: (0, 0)})
    desk.gone("verifier")
    desk.worker(b"verifier-2", hello("verifier", pid=2))
    old = [desk.beat(DRAFTER, "drafter", {1: (0, 0), 2: (1, 0)}) for _ in range(2)]

    assert (first, third) == ([], [])
    assert [(peer, opened.request) for peer, opened in openings(second)] == [(VERIFIER, 2)]
    assert [[(opened.request, opened.life) for _, opened in openings(each)] for each in old] == [[], [(1, 1)]]


def test_a_verdict_that_was_lost_alone_is_recalled_by_the_next_pulse() -> None:
    """Without a later one there would be no gap; only the verifier in the life that it has now is asked."""
    desk = both()
    desk.client(ANN, ask(1))
    desk.worker(VERIFIER, verdict([4]))
    behind = desk.beat(DRAFTER, "drafter", {1: (0, 3)})
    level = desk.beat(VERIFIER, "verifier", {1: (0, 1)})
    (lost,) = desk.beat(VERIFIER, "verifier", {1: (0, 3)})
    end = desk.worker(VERIFIER, verdict([5, 6], 1, finish="stop", began=0.0, ended=0.0))

    assert (behind, level) == ([], [])
    assert isinstance(lost.message, Recall)
    assert (lost.peer, lost.message.request, lost.message.start) == (VERIFIER, 1, 1)
    assert to_clients(end) == [(ANN, Delta), (ANN, Finished)]


@pytest.mark.parametrize("role", ["drafter", "verifier"])
def test_a_request_that_ended_is_closed_again_where_it_is_still_open(role: Role) -> None:
    """Else a lost close would cost a lane for ever."""
    desk = both()
    desk.client(ANN, ask(1))
    desk.client(ANN, Cancel(key=1))
    peer = f"{role}-1".encode()

    assert to_workers(desk.beat(peer, role, {1: (0, 5)})) == [(peer, Close)]


def test_a_drafter_that_gave_a_request_up_is_not_asked_again() -> None:
    """Unless another drafter comes, or the request is opened in a new life."""
    desk = both()
    desk.client(ANN, ask(1))
    desk.worker(DRAFTER, Unserved(request=1, reason="nan"))
    silent = [desk.beat(DRAFTER, "drafter") for _ in range(3)]
    desk.gone("drafter")
    desk.worker(b"drafter-2", hello("drafter", pid=2))
    again = [desk.beat(b"drafter-2", "drafter") for _ in range(2)]

    assert silent == [[], [], []]
    assert [len(openings(each)) for each in again] == [0, 1]


def test_a_drafter_that_sends_elsewhere_is_told_of_the_verifier_again() -> None:
    """Where the introduction was lost."""
    desk = both()
    lost = desk.worker(DRAFTER, pulse("drafter", peer=""))

    assert to_workers(lost) == [(DRAFTER, Peer)]
    assert desk.beat(DRAFTER, "drafter") == []


def test_the_end_of_an_old_process_does_not_condemn_its_successor() -> None:
    """Its name is the process, not the role; what is final still is."""
    desk = both()
    desk.client(ANN, ask(1))
    desk.gone("verifier")
    desk.worker(b"verifier-2", hello("verifier", pid=2))
    late = desk.gone("verifier", pid=1)
    told = desk.worker(b"verifier-2", verdict([4], life=1))

    assert late == []
    assert to_clients(told) == [(ANN, Delta)]


def test_a_hello_that_comes_after_the_end_of_its_process_is_not_heard() -> None:
    """Else the place would be held by someone dead."""
    desk = Desk()
    desk.gone("verifier", pid=3)
    late = desk.worker(b"verifier-3", hello("verifier", pid=3))

    assert late == []
    assert desk.booking.roster.get("verifier") is None


def test_the_supervisor_is_told_how_all_are() -> None:
    """It asks as a client does, over its own line."""
    desk = both()
    desk.beat(VERIFIER, "verifier")
    ((peer, status),) = [(action.peer, action.message) for action in desk.worker(b"supervisor", Look())]

    assert peer == b"supervisor"
    assert isinstance(status, Status)
    assert [(worker.role, worker.pid, worker.beats) for worker in status.workers] == [
        ("verifier", 1, 1),
        ("drafter", 1, 0),
    ]


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_whatever_anyone_says_each_request_ends_once(seed: int) -> None:
    """Verdicts of any request, start and life, workers that come and go, asks and cancels, in any order."""
    rng = random.Random(seed)
    desk = Desk(lanes=2, waiting=3)
    asked: list[tuple[bytes, int]] = []
    for key in range(80):
        _say(desk, rng, key, asked)
    desk.worker(b"supervisor", Halt(secret=""))

    for client, key in asked:
        messages = desk.told(client, key)
        assert len(ends(messages)) == 1
        assert messages[-1] is ends(messages)[0]
    _no_closed_request_is_named(desk.sent)


def _say(desk: Desk, rng: random.Random, key: int, asked: list[tuple[bytes, int]]) -> None:
    client = rng.choice([ANN, BOB])
    peer = b"verifier-%d" % rng.randrange(3)
    role: Role = rng.choice(["drafter", "verifier"])
    move = rng.randrange(10)
    if move < 2:
        asked.append((client, key))
        desk.client(client, ask(key, ids=range(rng.choice([0, 1, 5, 63, 64])), stop=rng.choice([[], ["t1 t"]])))
    elif move == 2 and asked:
        owner, name = rng.choice(asked)
        desk.client(owner, Cancel(key=name))
    elif move == 3:
        desk.worker(peer if role == "verifier" else DRAFTER, hello(role, pid=rng.randrange(3)))
    elif move == 4:
        desk.gone(role, final=rng.random() < 0.2, pid=rng.randrange(3))
    elif move == 5:
        there = {rng.randrange(1, 9): (rng.choice([0, 0, 1]), rng.randrange(5)) for _ in range(rng.randrange(4))}
        desk.beat(peer if role == "verifier" else DRAFTER, role, there)
    else:
        desk.worker(peer, _any_verdict(rng))


def _any_verdict(rng: random.Random) -> Verdict:
    tokens = [rng.randrange(3) for _ in range(rng.randrange(4))]
    finish = rng.choice(["", "", "", "stop", "length"])
    start, life = rng.randrange(4), rng.choice([0, 0, 1, 2])
    return verdict(tokens, start, request=rng.randrange(1, 9), life=life, finish=finish, checked=rng.randrange(4))


def _no_closed_request_is_named(actions: Sequence[Action]) -> None:
    opened, closed = set[int](), set[int]()
    for action in actions:
        if isinstance(action.message, Open):
            opened.add(action.message.request)
        if isinstance(action.message, Close) and action.message.request in opened:
            closed.add(action.message.request)
        if isinstance(action.message, Open | Recall):
            assert action.message.request not in closed
