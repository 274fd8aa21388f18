"""Between text and token ids, for the target that this instance serves."""

from specpipe.errors import RequestError
from specpipe.minds.entry import Text
from specpipe.text.seam import Tokenizer
from specpipe.text.stream import TextStream
from specpipe.words.messages import Ask


class Texts:
    """The target's tokenizer as the coordinator uses it."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self.stop_tokens = tokenizer.stop_tokens

    def prompt(self, ask: Ask) -> list[int]:
        """Return the prompt's ids; raise `RequestError` unless exactly one form of prompt is given."""
        if sum(map(bool, (ask.chat, ask.text, len(ask.ids)))) != 1:
            raise RequestError("the prompt must be chat messages, or a text, or token ids, and not be empty")
        if ask.chat:
            return self._tokenizer.chat(ask.chat)
        return self._tokenizer.encode(ask.text) if ask.text else self._ids(ask)

    def text(self, stops: tuple[str, ...]) -> Text:
        """Return a fresh text for one answer."""
        return TextStream(self._tokenizer, stops)

    def _ids(self, ask: Ask) -> list[int]:
        if int(ask.ids.min()) < 0:
            raise RequestError("a token id is negative")
        return [int(token) for token in ask.ids]
