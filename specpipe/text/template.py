"""Chat templates: the model's own Jinja text turns a conversation into a prompt, inside a sandbox.

The names that a template may use are those that transformers gives it.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NoReturn

from jinja2 import TemplateError, nodes
from jinja2.exceptions import SecurityError
from jinja2.ext import Extension
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace

from specpipe.errors import ModelError, RequestError


class ChatTemplate:
    """One model's template; `special` gives its special tokens by name (`bos_token`, `eos_token`, ...).

    Raises `ModelError` if the source is not a template.
    """

    def __init__(self, source: str, special: Mapping[str, str]) -> None:
        self._special = special
        try:
            self._template = _environment().from_string(source)
        except TemplateError as error:
            raise ModelError(f"the model's chat template is broken: {error}; use --raw") from error

    def render(self, messages: Sequence[tuple[str, str]]) -> str:
        """Return the prompt of a chat of (role, content), up to where the answer begins; raise `RequestError`."""
        chat = [{"role": role, "content": content} for role, content in messages]
        try:
            return self._template.render(
                messages=chat, tools=None, documents=None, add_generation_prompt=True, **self._special
            )
        except (TemplateError, TypeError, ValueError, LookupError, ArithmeticError) as error:
            raise RequestError(f"the model's chat template refuses this chat: {error}") from error


class _Generation(Extension):
    """`{% generation %}` marks answers for training; their text is rendered like any other."""

    tags = {"generation"}  # noqa: RUF012 - the base class declares it so

    def parse(self, parser: Parser) -> list[nodes.Node]:
        """Return what the block encloses."""
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


class _Namespace(Namespace):
    """A namespace that cannot be used to reach Python's internals."""

    def __setitem__(self, name: str, value: Any) -> None:
        if name.startswith("_"):
            raise SecurityError(f"a chat template may not set {name!r}")
        super().__setitem__(name, value)


def _environment() -> ImmutableSandboxedEnvironment:
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, "jinja2.ext.loopcontrols"]
    )
    environment.filters["tojson"] = _to_json
    environment.globals |= {"raise_exception": _refuse, "strftime_now": _now, "namespace": _Namespace}
    return environment


def _to_json(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """Return plain JSON, where Jinja's own filter would escape for HTML."""
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def _refuse(message: str) -> NoReturn:
    raise TemplateError(message)


def _now(form: str) -> str:
    return datetime.now().astimezone().strftime(form)
