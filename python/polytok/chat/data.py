"""Converts messages, tools, documents and variables to what templates see: plain data whose texts know their origin."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..checks import shown
from ..errors import ArgumentError
from ..keywords import keyword
from ..utf8 import repaired
from .origin import INPUT, TEMPLATE, Text, from_message

_ROLES = frozenset(("system", "developer", "user", "assistant", "tool"))
REASONING_FIELDS = ("reasoning_content", "thinking", "reasoning")
"""The names of the field with a message's reasoning. Templates read the first; those of gpt-oss read the second."""


def plain_data(value: Any, origin: int) -> Any:
    """Rebuilds a value from the types of JSON, with texts of this origin: values and keys, at any depth.

    As in transformers, other objects are replaced by a text with the name of their type: the template must not see
    their methods.
    """
    if isinstance(value, str):
        return from_message(repaired(str.__str__(value)), origin)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, (dict, Mapping)):  # a dict is recognized faster than a Mapping
        return {plain_data(key, origin): plain_data(item, origin) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type_of_sequence(value)([plain_data(item, origin) for item in value])
    if isinstance(value, np.generic):
        return plain_data(value.item(), origin)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return plain_data(fields, origin)
    if callable(getattr(value, "model_dump", None)):  # a model of pydantic
        return plain_data(value.model_dump(), origin)
    return from_message(f"<{type(value).__name__}>", origin)


def type_of_sequence(value: list[Any] | tuple[Any, ...]) -> type:
    """Returns list or tuple, without subclasses."""
    return tuple if isinstance(value, tuple) else list


def messages_data(messages: Iterable[Any]) -> list[dict[Any, Any]]:
    """Returns the messages for a template, each with its index as the origin.

    As in transformers, fields that are None are left out, and reasoning has all of its names. One of the usual roles
    counts as text of the template: templates such as Phi-4's write special tokens that contain the role.
    """
    data = [_message_data(index, message) for index, message in enumerate(_message_list(messages))]
    if not data:
        raise ArgumentError(f"{keyword('messages=')}[] is an empty conversation; pass at least one message")
    return data


def _message_list(messages: Any) -> list[Any]:
    if type(messages) is list:
        return messages
    messages = getattr(messages, "messages", messages)
    if isinstance(messages, (str, bytes, Mapping)) or not isinstance(messages, Iterable):
        raise TypeError(f"messages={shown(messages)} is not a list of messages, such as {_EXAMPLE}")
    return list(messages)


def _message_data(index: int, message: Any) -> dict[Any, Any]:
    data = plain_data(message, index)
    if not isinstance(data, dict):
        raise TypeError(f"messages[{index}]={shown(message)} is not a message, such as {_EXAMPLE[1:-1]}")
    kept = {key: value for key, value in data.items() if value is not None}
    if str(kept.get("role")) in _ROLES:
        kept["role"] = plain_data(kept["role"], TEMPLATE)
    reasoning = next((kept[name] for name in REASONING_FIELDS if name in kept), None)
    return kept if reasoning is None else {"thinking": reasoning, **kept, "reasoning_content": reasoning}


def tools_data(tools: Any) -> list[Any] | None:
    """Returns the tools for a template; None for None."""
    if tools is None:
        return None
    if isinstance(tools, (str, bytes, Mapping)) or not isinstance(tools, Iterable):
        raise TypeError(f"tools={shown(tools)} is not a list of JSON schemas")
    tool_list = list(tools)
    for index, tool in enumerate(tool_list):
        if not isinstance(tool, Mapping):
            advice = ", as transformers.utils.get_json_schema returns it for a function" if callable(tool) else ""
            raise TypeError(f"tools[{index}]={shown(tool)} is not a JSON schema: pass a dict{advice}")
    data: list[Any] = plain_data(tool_list, INPUT)
    return data


def documents_data(documents: Any) -> list[Any] | None:
    """Returns the documents for a template; None for None."""
    if documents is None:
        return None
    if isinstance(documents, (str, bytes, Mapping)) or not isinstance(documents, Iterable):
        raise TypeError(f"documents={shown(documents)} is not a list of dicts with a title and a text")
    document_list = list(documents)
    for index, document in enumerate(document_list):
        if not isinstance(document, Mapping):
            raise TypeError(f"documents[{index}]={shown(document)} is not a dict with a title and a text")
    data: list[Any] = plain_data(document_list, INPUT)
    return data


def variables_data(tokenizer_data: Mapping[str, Any], variables: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the variables for a template. Those of the tokenizer, such as ``bos_token``, belong to the template;
    those of the caller are input, even if they replace one of these."""
    return {**tokenizer_data, **{name: plain_data(variables[name], INPUT) for name in variables}}


def plain_data_of_tokenizer(special_texts: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the texts of the tokenizer's roles, as texts of the template."""
    return {name: plain_data(text, TEMPLATE) for name, text in special_texts.items()}


def input_characters(value: Any) -> int:
    """Returns the number of characters in all texts of a value."""
    count = 0
    pending = [value]
    for item in pending:  # which grows
        if isinstance(item, str):
            count += len(item) if isinstance(item, Text) else 0
        elif isinstance(item, dict):
            pending += item
            pending += item.values()
        elif isinstance(item, (list, tuple)):
            pending += item
    return count


_EXAMPLE = "[{'role': 'user', 'content': 'Hello'}]"
