"""Chat templates: renders conversations as transformers does, and encodes them so that no text of a message becomes a
special token.

`Tokenizer.render_chat` and `Tokenizer.encode_chat` are the interface. origin.py has the texts that know who wrote each
character, environment.py the sandbox that runs templates, budget.py its limits. The package jinja2 is imported when the
first template is rendered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..checks import one_of
from .budget import Limits
from .data import plain_data_of_tokenizer
from .encode import SPECIAL_IN_MESSAGES, ChatEncoding, SpecialInMessages, encode, parts_of
from .origin import INPUT, TEMPLATE, Text
from .render import check_inputs, render
from .template import choose, special_texts, templates_of

if TYPE_CHECKING:
    from ..parts import Parts
    from ..spec import Spec
    from ..values import Spans

__all__ = [
    "INPUT",
    "TEMPLATE",
    "ChatEncoding",
    "ChatTemplates",
    "Limits",
    "SpecialInMessages",
]


class ChatTemplates:
    """The chat templates of one tokenizer, and the texts of its special tokens."""

    def __init__(self, spec: Spec) -> None:
        self.templates = templates_of(spec)
        self._tokenizer_data = plain_data_of_tokenizer(special_texts(spec))

    def render(self, messages: Iterable[Any], template: str | None, options: Mapping[str, Any]) -> Parts:
        """Returns the text of a conversation in parts."""
        return parts_of(self._text(messages, template, options))

    def encode(
        self,
        messages: Iterable[Any],
        template: str | None,
        options: Mapping[str, Any],
        special_in_messages: SpecialInMessages,
        spans_of: Callable[..., Spans],
    ) -> ChatEncoding:
        """Renders and encodes a conversation. ``spans_of`` is `Tokenizer.spans`."""
        one_of("special_in_messages", special_in_messages, SPECIAL_IN_MESSAGES)
        return encode(self._text(messages, template, options), spans_of, special_in_messages)

    def _text(self, messages: Iterable[Any], template: str | None, options: Mapping[str, Any]) -> Text:
        inputs = check_inputs(messages, **options)
        source = choose(self.templates, template, inputs.tools is not None)
        return render(source, inputs, self._tokenizer_data)
