"""The in-memory twin of all links, on whatever clock it is given: for the simulator and for tests.

Messages pass through the codec, so that what works here is what the wire allows.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from math import inf

from specpipe.errors import FrameError
from specpipe.links.weather import Storm, Weather
from specpipe.words.messages import Draws, Edges, Message, Resync, Verdict
from specpipe.words.messages.codec import Decoder, Frames, encode

CAPACITY = 4096
Clock = Callable[[], float]


@dataclass(eq=False, slots=True)
class Mailbox:
    """Where one end receives: frames with their sender, on their way through the weather, at most `CAPACITY`."""

    storm: Storm[tuple[bytes, Frames]]
    decoder: Decoder
    clock: Clock
    dropped: int = 0

    def put(self, sender: bytes, frames: Frames) -> bool:
        """Send into it; return False where it is full."""
        if len(self.storm) >= CAPACITY:
            return False
        self.storm.push((sender, frames), self.clock())
        return True

    def take(self) -> list[tuple[bytes, Message]]:
        """Return the messages that have arrived, and count what is none."""
        read = [(sender, self._read(frames)) for sender, frames in self.storm.pop(self.clock())]
        return [(sender, message) for sender, message in read if message is not None]

    def _read(self, frames: Frames) -> Message | None:
        try:
            return self.decoder.decode(frames)
        except FrameError:
            self.dropped += 1
            return None


@dataclass(eq=False, slots=True)
class MemoryNetwork:
    """Joins hubs, lines and data links by address; `clock` returns seconds.

    The data links suffer all of the weather; control links are reliable and ordered, and only delayed.
    """

    weather: Weather
    clock: Clock
    _numbers: "count[int]" = field(init=False, default_factory=lambda: count(1))
    _mailboxes: dict[str, Mailbox] = field(init=False, default_factory=dict)
    _subscribers: dict[str, list[Mailbox]] = field(init=False, default_factory=dict)

    def hub(self, kinds: Sequence[type[Message]]) -> "MemoryHub":
        """Return a new hub that understands these kinds."""
        return MemoryHub(self, self.open(self.weather.steady(), kinds))

    def line(self, address: str, kinds: Sequence[type[Message]]) -> "MemoryLine":
        """Return a new line to the hub at `address`."""
        return MemoryLine(self, self.open(self.weather.steady(), kinds), address)

    def server(self, kinds: Sequence[type[Message]] = (Edges, Draws, Resync)) -> "MemoryServer":
        """Return a new verifier's end of a data link."""
        return MemoryServer(self, self.open(self.weather, kinds))

    def client(self, kinds: Sequence[type[Message]] = (Verdict,)) -> "MemoryClient":
        """Return a new drafter's end of a data link, not yet connected."""
        return MemoryClient(self, kinds)

    def next_arrival(self) -> float:
        """Return the moment of the next arrival anywhere, infinity if nothing is on its way."""
        return min((mailbox.storm.next_arrival() for mailbox in self._mailboxes.values()), default=inf)

    def open(self, weather: Weather, kinds: Sequence[type[Message]]) -> str:
        """Return the address of a new mailbox."""
        address = f"memory://{next(self._numbers)}"
        self._mailboxes[address] = Mailbox(Storm(weather, address), Decoder(kinds), self.clock)
        return address

    def mailbox(self, address: str) -> Mailbox | None:
        """Return the mailbox at an address, None if it was closed or never was."""
        return self._mailboxes.get(address)

    def subscribe(self, address: str, mailbox: Mailbox) -> None:
        """Have the mailbox hear what is published at `address`."""
        self._subscribers.setdefault(address, []).append(mailbox)

    def publish(self, address: str, frames: Frames) -> None:
        """Send to all that hear this address; one that is full loses it."""
        for mailbox in self._subscribers.get(address, ()):
            mailbox.put(address.encode(), frames)

    def close(self, address: str) -> None:
        """Take a mailbox, and what it subscribed to, off the network."""
        mailbox = self._mailboxes.pop(address, None)
        for mailboxes in self._subscribers.values():
            mailboxes[:] = [each for each in mailboxes if each is not mailbox]


class _End:
    """What all ends have in common: a mailbox at an address of their own."""

    def __init__(self, network: MemoryNetwork, address: str) -> None:
        self._network = network
        self._open(address)

    @property
    def dropped(self) -> int:
        """How many malformed messages were received and skipped."""
        return self._mailbox.dropped

    def fileno(self) -> int:
        """Return -1: nothing but time brings news."""
        return -1

    def patience(self) -> float:
        """Return the seconds on the network's clock until something arrives, 0 if something has."""
        return max(0.0, self._mailbox.storm.next_arrival() - self._network.clock())

    def close(self) -> None:
        """Leave the network."""
        self._network.close(self._address)

    def _open(self, address: str) -> None:
        mailbox = self._network.mailbox(address)
        if mailbox is None:
            raise LookupError(address)
        self._address = address
        self._mailbox = mailbox

    def _deliver(self, address: str, message: Message) -> bool:
        frames = encode(message)
        mailbox = self._network.mailbox(address)
        return mailbox is not None and mailbox.put(self._address.encode(), frames)


class MemoryHub(_End):
    """The coordinator's end of many control lines (see `links.seam.Hub`)."""

    @property
    def address(self) -> str:
        """Where peers find it."""
        return self._address

    def send(self, peer: bytes, message: Message) -> bool:
        """Send to one peer; return False where it is gone or has left too much unread."""
        return self._deliver(peer.decode(errors="replace"), message)

    def receive(self) -> list[tuple[bytes, Message]]:
        """Return what has arrived with its sender, oldest first."""
        return self._mailbox.take()


class MemoryLine(_End):
    """The other end of a control line (see `links.seam.Link`)."""

    def __init__(self, network: MemoryNetwork, address: str, hub: str) -> None:
        super().__init__(network, address)
        self._hub = hub

    def send(self, message: Message) -> bool:
        """Send to the hub; return False where it is gone or has left too much unread."""
        return self._deliver(self._hub, message)

    def receive(self) -> list[Message]:
        """Return what has arrived, oldest first."""
        return [message for _, message in self._mailbox.take()]


class MemoryServer(_End):
    """The verifier's end of the data link (see `links.seam.DataListener`)."""

    @property
    def edges_address(self) -> str:
        """Where the drafter sends edges."""
        return self._address

    @property
    def verdicts_address(self) -> str:
        """Where the drafter hears verdicts."""
        return self._address

    def send(self, message: Message) -> bool:
        """Publish to whoever listens; what one of them loses is not seen, so this is always True."""
        self._network.publish(self._address, encode(message))
        return True

    def receive(self) -> list[Message]:
        """Return what has come through, in the order of arrival."""
        return [message for _, message in self._mailbox.take()]


class MemoryClient(_End):
    """The drafter's end of the data link (see `links.seam.DataDialer`)."""

    def __init__(self, network: MemoryNetwork, kinds: Sequence[type[Message]]) -> None:
        self._kinds = kinds
        self._edges = ""
        self._dropped_before = 0
        super().__init__(network, network.open(network.weather, kinds))

    @property
    def dropped(self) -> int:
        """How many malformed messages were received and skipped."""
        return self._dropped_before + self._mailbox.dropped

    def connect(self, edges: str, verdicts: str) -> None:
        """Turn to this verifier, discarding all that was on its way from the one before."""
        self._dropped_before = self.dropped
        self.close()
        self._open(self._network.open(self._network.weather, self._kinds))
        self._network.subscribe(verdicts, self._mailbox)
        self._edges = edges

    def send(self, message: Message) -> bool:
        """Send to the verifier; return False, dropping it, where there is none."""
        return self._deliver(self._edges, message)

    def receive(self) -> list[Message]:
        """Return what has come through, in the order of arrival."""
        return [message for _, message in self._mailbox.take()]
