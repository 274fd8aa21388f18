"""A model's own tokenizer, read from its folder with `tokenizers` alone; it equals transformers' on ids and text."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tokenizers

from specpipe.errors import RequestError
from specpipe.text.decoding import StagedDecoder
from specpipe.text.files import stored_json, stored_tokenizer
from specpipe.text.special import special_tokens, stop_tokens, template_source
from specpipe.text.template import ChatTemplate
from specpipe.text.unicode import require_unicode


class StoredTokenizer:
    """Encodes, renders chats, and decodes; see `text.seam.Tokenizer` for the contract."""

    def __init__(
        self,
        library: tokenizers.Tokenizer,
        decoder: dict[str, Any] | None,
        template: ChatTemplate | None,
        stops: frozenset[int],
    ) -> None:
        self._library = library
        self._decoder = decoder
        self._template = template
        self._skipped = {token.content for token in library.get_added_tokens_decoder().values() if token.special}
        self.stop_tokens = stops
        self.size = max(library.get_vocab(with_added_tokens=True).values(), default=-1) + 1
        self.decoder()  # a decoder that cannot be streamed is refused now, not in the middle of an answer

    def encode(self, text: str) -> list[int]:
        """Return the ids of raw text, with the special tokens that the tokenizer.json itself puts around it."""
        return self._ids(text, special=True)

    def chat(self, messages: Sequence[tuple[str, str]]) -> list[int]:
        """Return the ids of a chat of (role, content); the template alone decides on special tokens."""
        if self._template is None:
            raise RequestError("this model has no chat template; use --raw")
        if not messages:
            raise RequestError("the chat is empty; give at least one message")
        return self._ids(self._template.render(messages), special=False)

    def decode(self, tokens: Sequence[int]) -> str:
        """Return the text of an answer, special tokens left out and spaces as they come."""
        return self._library.decode(list(tokens), skip_special_tokens=True)

    def decoder(self) -> StagedDecoder:
        """Return a fresh decoder for one answer."""
        return StagedDecoder(self._piece, self._decoder)

    def _ids(self, text: str, *, special: bool) -> list[int]:
        require_unicode(text, "the prompt")
        ids = self._library.encode(text, add_special_tokens=special).ids
        if not ids:
            raise RequestError("the prompt is empty; give at least one token")
        return ids

    def _piece(self, token: int) -> str | None:
        piece = self._library.id_to_token(token)
        return None if piece in self._skipped else piece


def load(folder: Path) -> StoredTokenizer:
    """Read a model folder's tokenizer, template and stop tokens; raise `ModelError`.

    A special token that the configuration names counts as special even if the tokenizer.json says nothing.
    """
    library = stored_tokenizer(folder)
    config = stored_json(folder / "tokenizer_config.json")
    special = special_tokens(folder, config)
    vocabulary = library.get_vocab(with_added_tokens=True)
    added = {token.content for token in library.get_added_tokens_decoder().values()}
    library.add_special_tokens([token for token in special.values() if token not in added and token in vocabulary])
    source = template_source(folder, config)
    return StoredTokenizer(
        library,
        stored_json(folder / "tokenizer.json").get("decoder"),
        None if source is None else ChatTemplate(source, special),
        stop_tokens(folder, vocabulary.get(special.get("eos_token", ""))),
    )
