"""Whether a request can be served: said in one sentence that names the field."""

from collections.abc import Collection, Iterator

from specpipe.minds.entry import Entry
from specpipe.words.messages import Ask, Hello
from specpipe.words.sampling import Sampling


def contradiction(ask: Ask) -> str | None:
    """Return what cannot be done on any model, if anything."""
    least, most = ask.sampling.min_tokens, ask.max_tokens
    if 0 < most < least:
        return f"min_tokens: {least} is more than max_tokens, {most}"
    if ask.sampling.acceptance == "rejection" and ask.check == "tree":
        return "check: trees are not checked by rejection; ask for chain or auto, or for coupled acceptance"
    return None


def unfit(entry: Entry, verifier: Hello, stop_tokens: frozenset[int]) -> str | None:
    """Return why not one more token can be committed, or not as asked, if so; `stop_tokens` are the model's."""
    return (
        _too_long(entry, verifier.context)
        or _unknown(entry, verifier.vocabulary)
        or contradiction(entry.ask)
        or _nothing_left(entry.ask.sampling, entry.ends(stop_tokens))
    )


def _too_long(entry: Entry, context: int) -> str | None:
    length = len(entry.prompt)
    if length + len(entry.committed) < context:
        return None
    return f"the prompt has {length} tokens and must have fewer than the context of {context}"


def _unknown(entry: Entry, vocabulary: int) -> str | None:
    highest, sampling = max(entry.prompt), entry.ask.sampling
    if highest >= vocabulary:
        return f"the prompt has token {highest}, beyond the model's vocabulary of {vocabulary}"
    for name, tokens in _named(sampling):
        if tokens and (highest := max(tokens)) >= vocabulary:
            return f"{name}: token {highest} is beyond the model's vocabulary of {vocabulary}"
    if sampling.top_logprobs > vocabulary:
        return f"top_logprobs: {sampling.top_logprobs} is more than the model's vocabulary of {vocabulary}"
    return None


def _named(sampling: Sampling) -> Iterator[tuple[str, Collection[int]]]:
    yield "logit_bias", [token for token, _ in sampling.logit_bias]
    yield "bad_words", [token for word in sampling.bad_words for token in word]
    yield "allowed_ids", sampling.allowed_ids


def _nothing_left(sampling: Sampling, ends: Collection[int]) -> str | None:
    barred = {word[0] for word in sampling.bad_words if len(word) == 1}
    if sampling.min_tokens:
        barred.update(ends)
    if sampling.allowed_ids and barred.issuperset(sampling.allowed_ids):
        return "allowed_ids: all of them are bad words, or ends that min_tokens puts off; allow another"
    return None
