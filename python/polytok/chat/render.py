"""Renders a conversation with a chat template: the same text as ``apply_chat_template`` of transformers 5.23."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ..checks import flag, instance, shown
from ..errors import ArgumentError, ChatTemplateError
from ..keywords import keyword
from .budget import Limits, spend_steps, spending
from .data import (
    REASONING_FIELDS,
    documents_data,
    input_characters,
    messages_data,
    tools_data,
    variables_data,
)
from .origin import Text, joined, runs_of

if TYPE_CHECKING:
    from types import ModuleType

    from jinja2.exceptions import TemplateSyntaxError

_DEFAULT_LIMITS = Limits()
_STEPS_OF_PART = 32
_TAG = "CONTINUE_FINAL_MESSAGE_TAG "


class Inputs(NamedTuple):
    """The checked inputs of a template, as plain data whose texts know their origin."""

    conversation: list[dict[Any, Any]]
    tools: list[Any] | None
    documents: list[Any] | None
    add_generation_prompt: bool
    field_to_continue: str | None
    limits: Limits
    variables: Mapping[str, Any]


def check_inputs(
    messages: Iterable[Any],
    *,
    tools: Iterable[Any] | None = None,
    documents: Iterable[Any] | None = None,
    add_generation_prompt: bool = False,
    continue_final_message: bool | str = False,
    limits: Limits | None = None,
    variables: Mapping[str, Any],
) -> Inputs:
    """Checks the inputs of a template, and converts them."""
    flag("add_generation_prompt", add_generation_prompt)
    field = _field_to_continue(continue_final_message, add_generation_prompt)
    limits = _DEFAULT_LIMITS if limits is None else limits
    instance("limits", limits, Limits, "polytok.chat.Limits")
    conversation, tool_list, document_list = messages_data(messages), tools_data(tools), documents_data(documents)
    return Inputs(conversation, tool_list, document_list, add_generation_prompt, field, limits, variables)


def render(template: str, inputs: Inputs, tokenizer_data: Mapping[str, Any]) -> Text:
    """Returns the text of a conversation, whose characters know their origin.

    ``tokenizer_data`` has the variables of the tokenizer, such as ``bos_token``, as plain data.
    """
    check_variables(inputs.variables, template)
    field = inputs.field_to_continue
    final_text = None if field is None else _mark_final_message(template, inputs.conversation, field)
    values = {
        "messages": inputs.conversation,
        "tools": inputs.tools,
        "documents": inputs.documents,
        "add_generation_prompt": inputs.add_generation_prompt,
        **variables_data(tokenizer_data, inputs.variables),
    }
    text = run(template, values, inputs.limits)
    return text if final_text is None else _without_end(text, final_text)


def run(template: str, values: Mapping[str, Any], limits: Limits) -> Text:
    """Runs a template. Raises `ChatTemplateError` with the template's message and line for every error in it."""
    environment, syntax_error = _modules()
    program = None
    try:
        program = environment.compiled(template)
        with spending(limits, input_characters(values), len(values.get("messages") or ())):
            context = program.new_context(dict(values))
            text = joined(program.root_render_func(context))
            spend_steps(_STEPS_OF_PART * len(runs_of(text)))
            return text
    except ChatTemplateError:  # a limit
        raise
    except syntax_error as error:
        raise ChatTemplateError(f"the chat template is not valid, line {error.lineno}: {error.message}") from error
    except RecursionError as error:
        raise ChatTemplateError("the chat template or its input is nested too deeply") from error
    except Exception as error:  # a template is a program, so it can raise any error
        line = None if program is None else environment.line_of(program, error)
        place = "" if line is None else f", line {line}"
        raise ChatTemplateError(f"chat template{place}: {_message_of(error)}") from error


@cache
def _modules() -> tuple[ModuleType, type[TemplateSyntaxError]]:
    """Returns the module of this package that needs jinja2, and jinja2's error for a template that is not valid."""
    try:
        from . import environment
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "jinja2":
            raise
        raise ChatTemplateError("chat templates need the package jinja2: pip install 'polytok[chat]'") from None
    from jinja2.exceptions import TemplateSyntaxError

    return environment, TemplateSyntaxError


def _message_of(error: Exception) -> str:
    """Returns the message of an error, which calls texts ``str`` as in any other program that runs templates."""
    message = str(error).replace("polytok.chat.origin.Text object", "str object").replace("'Text'", "'str'")
    return message or type(error).__name__


def check_variables(names: Iterable[str], template: str) -> None:
    """Raises `TypeError` for a variable that is probably a misspelt keyword, or a keyword of transformers."""
    for name in names:
        if name in template:
            continue
        similar = get_close_matches(name, _OWN_KEYWORDS, 1, cutoff=0.85)
        advice = f"; did you mean {similar[0]!r}?" if similar else _KEYWORDS_OF_TRANSFORMERS.get(name)
        if advice:
            raise TypeError(f"{name}= is not a keyword of chat templates, and this template does not read it{advice}")


_OWN_KEYWORDS = ("template", "tools", "documents", "add_generation_prompt", "continue_final_message", "limits")
_KEYWORDS_OF_TRANSFORMERS = {
    "chat_template": "; use template=",
    "tokenize": "; use encode_chat for ids and render_chat for text",
    "return_dict": "; encode_chat returns a ChatEncoding",
    "return_tensors": "; use ChatEncoding.ids",
    "return_assistant_tokens_mask": "; use ChatEncoding.assistant_mask",
    "sanitize_control_tokens": '; use special_in_messages="text", the default of encode_chat',
    "special_in_messages": "; it is a keyword of encode_chat",
}


def _field_to_continue(continue_final_message: bool | str, add_generation_prompt: bool) -> str | None:
    """Returns the field of the final message that the model continues, or None."""
    if not isinstance(continue_final_message, (bool, str)):
        shown_value = keyword(f"continue_final_message={shown(continue_final_message)}")
        raise ArgumentError(f"{shown_value} is neither True, False nor the name of a field")
    if not continue_final_message:
        return None
    if add_generation_prompt:
        raise ArgumentError(
            f"{keyword('continue_final_message=')} and {keyword('add_generation_prompt=')} exclude each other: the "
            "first continues the final message, the second begins another one"
        )
    return continue_final_message if isinstance(continue_final_message, str) else "content"


def _mark_final_message(template: str, conversation: list[dict[Any, Any]], field: str) -> str:
    """Writes a tag at the end of the final message's field, and returns the text before the tag."""
    message = conversation[-1]
    content = message.get(field)
    if content is None:
        raise ArgumentError(f"the final message has no field {field!r} to continue")
    names = REASONING_FIELDS if field in REASONING_FIELDS else (field,)
    fields = [name for name in names if message.get(name) == content]
    if not any(name in template for name in fields):
        raise ArgumentError(f"the chat template does not read the field {field!r}, so nothing can be continued")
    if isinstance(content, (list, tuple)):
        for block in reversed(content):
            if isinstance(block, dict) and isinstance(block.get("text"), Text):
                text: str = str.__str__(block["text"])
                block["text"] += _TAG
                return text
        raise ArgumentError("the final message has no text to continue")
    if not isinstance(content, Text):
        raise ArgumentError(f"the field {field!r} of the final message is not a text")
    for name in fields:
        message[name] = content + _TAG
    return str.__str__(content)


def _without_end(text: Text, final_text: str) -> Text:
    """Removes the tag and everything after it."""
    content, tag = str.__str__(text), _TAG.strip()
    if final_text.strip() not in content or tag not in content:
        raise ChatTemplateError(
            "the final message is not in the text of the chat template, which removes parts of it; it cannot be "
            "continued"
        )
    place = content.rindex(tag)
    kept = text[:place]
    # A template that strips the message has removed the space of the tag; the space before it goes the same way.
    return kept if content[place : place + len(_TAG)] == _TAG else kept.rstrip()
