"""Templates see what transformers shows them, and nothing else."""

from datetime import datetime

import pytest

from specpipe.errors import ModelError, RequestError
from specpipe.text.template import ChatTemplate

CHAT = [("system", "be <brief>"), ("user", "hi")]


def rendered(source: str, chat: list[tuple[str, str]] = CHAT) -> str:
    """Render a template with two special tokens."""
    return ChatTemplate(source, {"bos_token": "<s>", "eos_token": "</s>"}).render(chat)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("{{ bos_token }}{{ messages[1]['content'] }}{{ eos_token }}", "<s>hi</s>"),
        ("{% if add_generation_prompt %}\n  go\n{% endif %}", "  go\n"),
        ("{%- for m in messages %}{% if loop.index > 1 %}{% break %}{% endif %}{{ m.role }}{% endfor %}", "system"),
        ("{{ messages[0] | tojson }}", '{"role": "system", "content": "be <brief>"}'),
        ("{{ {'b': 'é', 'a': 1} | tojson(indent=1, sort_keys=true) }}", '{\n "a": 1,\n "b": "é"\n}'),
        ("{% if tools is none and not documents %}none{% endif %}", "none"),
        ("{% generation %}{{ messages[1].content }}{% endgeneration %}!", "hi!"),
        ("{% set ns = namespace(n=0) %}{% for m in messages %}{% set ns.n = ns.n + 1 %}{% endfor %}{{ ns.n }}", "2"),
        ("    {% set x = 1 %}\n{{ x }}", "1"),
    ],
)
def test_templates_find_the_names_that_they_use(source: str, text: str) -> None:
    """Special tokens, loop controls, plain JSON, namespaces and block trimming work as templates expect."""
    assert rendered(source) == text


def test_the_date_can_be_asked_for() -> None:
    """`strftime_now` gives the local date."""
    assert rendered("{{ strftime_now('%Y') }}") in {str(datetime.now().astimezone().year + late) for late in (0, -1)}


@pytest.mark.parametrize(
    "source",
    [
        "{{ raise_exception('roles must alternate') }}",
        "{{ messages[7].content }}",
        "{{ messages[0].content + 1 }}",
        "{{ 1 / 0 }}",
        "{{ ''.__class__.__mro__ }}{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ messages.append(1) }}",
        "{% set ns = namespace() %}{% set ns.__class__ = 1 %}",
        "{{ range(999999999) | list }}",
    ],
)
def test_what_a_template_may_not_or_cannot_do_refuses_the_request(source: str) -> None:
    """Complaints of the template, mistakes in it and attempts to leave the sandbox end as one sentence."""
    with pytest.raises(RequestError, match="chat template refuses"):
        rendered(source)


def test_the_templates_own_words_reach_the_user() -> None:
    """What the template says about the chat is in the sentence."""
    with pytest.raises(RequestError, match="roles must alternate"):
        rendered("{{ raise_exception('roles must alternate') }}")


def test_a_source_that_is_no_template_is_the_models_fault() -> None:
    """The engine says so when it loads, with the way out."""
    with pytest.raises(ModelError, match="use --raw"):
        ChatTemplate("{% for m in %}", {})
