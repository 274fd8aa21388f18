"""Text that no encoding can carry is refused before it reaches a tokenizer."""

from specpipe.errors import RequestError


def require_unicode(text: str, what: str) -> None:
    """Raise `RequestError` if `text`, which the sentence calls `what`, holds half of a surrogate pair."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise RequestError(
            f"{what} holds half of a surrogate pair at character {error.start}; send whole characters"
        ) from error
