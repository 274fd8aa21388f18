"""The coordinator's loop: what the mind decides is sent in the order in which it was decided."""

from pathlib import Path

from specpipe.coordinator.loop import Coordinator
from specpipe.minds.booking import Booking
from specpipe.process.confidence import Confidence, confide
from specpipe.process.ending import Ending
from specpipe.trace import Silence
from specpipe.words.messages import Ask, Close, Failed, Gone, Halt, Message, Open
from tests.minds.house import Texts
from tests.minds.messages import ask, hello, verdict


class Script:
    """A hub that hands out one lot of messages at a time, and keeps what is sent to whoever can be reached."""

    address = "memory://script"
    dropped = 0

    def __init__(self, *lots: list[tuple[bytes, Message]], lost: tuple[bytes, ...] = ()) -> None:
        self._lots = list(lots)
        self._lost = lost
        self.sent: list[Message] = []

    def fileno(self) -> int:
        """Nothing to wait on."""
        return -1

    def patience(self) -> float:
        """There is always something, if only nothing."""
        return 0.0

    def receive(self) -> list[tuple[bytes, Message]]:
        """Return the next lot."""
        return self._lots.pop(0) if self._lots else []

    def send(self, peer: bytes, message: Message) -> bool:
        """Keep what is sent."""
        if peer in self._lost:
            return False
        self.sent.append(message)
        return True

    def close(self) -> None:
        """Nothing to close."""


def coordinate(workers: Script, clients: Script, folder: Path) -> None:
    """Run a coordinator until it is asked to end."""
    mind = Booking(Texts(), 16, lambda: 1)
    with Ending() as ending:
        loop = Coordinator(mind, workers, clients, confidence=Confidence(folder), ending=ending, trace=Silence())
        loop.run()


def test_the_close_of_a_lost_client_follows_the_open_of_its_request(tmp_path: Path) -> None:
    """Else the worker would keep a request that nobody owns, and with it a lane."""
    secret = confide(tmp_path)
    asks: list[tuple[bytes, Message]] = [(b"gone", ask(key)) for key in range(5)]
    workers = Script([(b"v", hello("verifier", lanes=2))], [], [(b"s", Halt(secret=secret))])
    clients = Script([], [*asks, (b"here", ask(9))], lost=(b"gone",))
    coordinate(workers, clients, tmp_path)

    told = [message for message in workers.sent if isinstance(message, Open | Close)]
    for number in {message.request for message in told}:
        kinds = [type(message) for message in told if message.request == number]
        assert kinds == [Open, Close]
    assert sum(isinstance(message, Open) for message in told) == 6
    assert not any(isinstance(message, Ask) for message in told)


def test_no_more_requests_are_open_at_a_worker_than_it_has_lanes(tmp_path: Path) -> None:
    """At every moment, in the order in which it hears of them."""
    secret = confide(tmp_path)
    asks: list[tuple[bytes, Message]] = [(b"gone", ask(key)) for key in range(7)]
    workers = Script([(b"v", hello("verifier", lanes=2))], [], [(b"s", Halt(secret=secret))])
    clients = Script([], asks, lost=(b"gone",))
    coordinate(workers, clients, tmp_path)

    running, most = 0, 0
    for message in workers.sent:
        running += isinstance(message, Open) - isinstance(message, Close)
        most = max(most, running)
    assert 0 < most <= 2


def test_only_who_knows_the_secret_may_say_that_a_worker_is_gone_or_end_the_instance(tmp_path: Path) -> None:
    """Whatever others say, the answer goes on to its end; without a supervisor nobody is believed."""
    secret = confide(tmp_path)
    lies: list[tuple[bytes, Message]] = [
        (b"eve", message)
        for word in ("", "guess", secret[:-1], "\u00e9")
        for message in (Halt(secret=word), Gone(role="verifier", pid=7, final=True, reason="", secret=word))
    ]
    workers = Script(
        [(b"v", hello("verifier"))], [], lies, [(b"v", verdict([1], finish="stop"))], [(b"s", Halt(secret=secret))]
    )
    clients = Script([], [(b"here", ask(1))])
    coordinate(workers, clients, tmp_path)

    assert not any(isinstance(message, Failed) for message in clients.sent)
    assert not Confidence(tmp_path / "nowhere").allows(Halt(secret=""))
