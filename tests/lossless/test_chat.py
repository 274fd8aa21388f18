"""A chat's prompt is what the template says, with no token added to it (case B14)."""

from typing import Any

import pytest
from transformers import AutoTokenizer

from specpipe.client.asking import Options, ask_chat
from tests.lossless.proof import departures
from tests.process.instances import Running, gather
from tests.reference import Reference

CHAT = [("system", "be good"), ("user", "where is the water?"), ("assistant", "over there"), ("user", "show me")]


@pytest.mark.parametrize("chat", [CHAT, CHAT[1:2]])
def test_a_chat_is_continued_after_its_template(
    noisy: Running, reference: Reference, chat: list[tuple[str, str]]
) -> None:
    """Its length is that of the template's text, tokenized as it stands, and the answer follows it."""
    tokenizer = AutoTokenizer.from_pretrained(noisy.supervisor.settings.target.name)
    messages = [{"role": role, "content": content} for role, content in chat]
    prompt: Any = tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_dict=False)
    told = gather(noisy.client.ask(ask_chat(chat, Options(max_tokens=40, ignore_eos=True))))

    assert told.prompt_tokens == len(prompt)
    assert prompt[:2].count(prompt[0]) == 1
    assert departures(reference, prompt, told.tokens) == []
