"""How the processes of an instance find one another: the coordinator's addresses, in the run folder."""

from pathlib import Path

import msgspec
from msgspec import Struct

from specpipe.errors import PeerError

_FILE = "addresses.json"


class Addresses(Struct, frozen=True, forbid_unknown_fields=True):
    """Where the coordinator listens: for workers and the supervisor (`control`), and for clients."""

    control: str
    clients: str


def publish(folder: Path, addresses: Addresses) -> None:
    """Write the addresses; whoever reads sees all of them or none."""
    draft = folder / f".{_FILE}"
    draft.write_bytes(msgspec.json.encode(addresses))
    draft.replace(folder / _FILE)


def find(folder: Path) -> Addresses:
    """Read the addresses; raise `PeerError` where no coordinator has published any."""
    try:
        return msgspec.json.decode((folder / _FILE).read_bytes(), type=Addresses)
    except (OSError, msgspec.DecodeError) as error:
        raise PeerError(f"no coordinator serves in {folder}; start one first") from error
