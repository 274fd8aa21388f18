"""Says in a user's words which value did not fit, and what was expected there."""

import re
from typing import NamedTuple

import msgspec

_WITH_PATH = re.compile(r"(?P<what>.*?)(?: - at `\$\.?(?P<path>.*)`)?", re.DOTALL)
_KEY = re.compile(r"Object (?P<how>contains unknown|missing required) field `(?P<key>.*)`", re.DOTALL)
_FATES = {"contains unknown": "there is no such key", "missing required": "this is missing"}


class Objection(NamedTuple):
    """What is wrong with the value at `path` (its keys, joined by dots; empty for the whole)."""

    path: str
    what: str

    def __str__(self) -> str:
        """Return one line, as in "speculation.lanes: expected int >= 1"."""
        return f"{self.path}: {self.what}" if self.path else self.what


def objection(error: msgspec.ValidationError) -> Objection:
    """Return what msgspec found wrong, without its notation."""
    match = _WITH_PATH.fullmatch(str(error))
    what, path = (match["what"], match["path"] or "") if match else (str(error), "")
    if key := _KEY.fullmatch(what):
        return Objection(".".join(filter(None, (path, key["key"]))), _FATES[key["how"]])
    return Objection(path, what[:1].lower() + what[1:].replace("`", ""))
