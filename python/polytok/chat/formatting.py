"""Formats texts by ``%`` and by ``str.format``, and keeps the origins of what is inserted without a format."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from jinja2.sandbox import SandboxedFormatter

from .budget import STEPS_OF_TEXT, spend_characters, spend_items, spend_steps
from .origin import Run, SafeText, Text, is_from_template, joined, runs_of

_DIRECTIVE = re.compile(r"%(\((?P<key>[^()]*)\))?(?P<flags>[#0 +-]*[\d*]*(\.[\d*]*)?[hlL]?)(?P<type>.)", re.DOTALL)
_NUMBER = re.compile(r"\d+")


def percent(text: Text, values: Any) -> Text:
    """Returns ``text % values``."""
    is_mapping = isinstance(values, Mapping)
    remaining = deque(values if isinstance(values, tuple) else [values])
    parts: list[str] = []
    position = 0
    used = is_mapping
    spend_steps(2 * STEPS_OF_TEXT * str.count(text, "%"))
    for match in _DIRECTIVE.finditer(text):
        parts.append(text[position : match.start()])
        position = match.end()
        if match["type"] == "%":
            parts.append(text[match.end() - 1 : match.end()])
            continue
        _check_width(match["flags"])
        if match["key"] is None and not remaining:
            raise TypeError("not enough arguments for format string")
        value = values[match["key"]] if match["key"] is not None else remaining.popleft()
        used = used or match["key"] is not None
        parts.append(_inserted(text, "%" + match["flags"] + match["type"], value))
    if remaining and not used:
        raise TypeError("not all arguments converted during string formatting")
    if "%" in str.__str__(text[position:]):
        raise ValueError("incomplete format")
    return text._new(joined((*parts, text[position:])))


def _inserted(text: Text, directive: str, value: Any) -> Text:
    """Returns the text of a value, as a directive such as ``%s`` or ``%5d`` writes it."""
    spend_items(value, writes=True)
    if directive == "%s":
        content = value if isinstance(value, str) else Text(str(value))
        operand = text._operand(_of_format(text, content))
        return operand if isinstance(operand, Text) else Text(operand)
    if isinstance(text, SafeText) and isinstance(value, str):
        value = str.__str__(text._operand(value))
    return Text(str.__mod__(directive, (value,)))


def _of_format(format_string: str, value: str) -> str:
    """Returns an inserted text. If a message wrote the format, it chose the order of what is inserted (even letter by
    letter, with a format such as ``{0[5]}{0[2]}``), so this counts as input."""
    return value if is_from_template(format_string) else Text(str.__str__(value))


def _check_width(flags: str) -> None:
    if "*" in flags:
        raise ValueError("a width that is an argument (*) is not supported")
    for number in _NUMBER.findall(flags):
        spend_characters(int(number))


class OriginFormatter(SandboxedFormatter):
    """``str.format`` of the sandbox, which keeps origins."""

    def vformat(self, format_string: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Text:
        """Returns the formatted text."""
        return self._formatted(format_string, args, kwargs, [0], 2)

    def _formatted(
        self, format_string: str, args: Sequence[Any], kwargs: Mapping[str, Any], next_index: list[int], depth: int
    ) -> Text:
        if depth < 0:
            raise ValueError("Max string recursion exceeded")
        runs = runs_of(format_string)
        spend_steps(2 * STEPS_OF_TEXT * format_string.count("{"))
        parts: list[str] = []
        for content, field, spec, conversion in self.parse(str.__str__(format_string)):
            is_uniform = len(runs) == 1 and content
            parts.append(Text(content, (Run(len(content), *runs[0][1:]),)) if is_uniform else Text(content))
            if field is None:
                continue
            if field == "" or field[0] in ".[":
                field = f"{next_index[0]}{field}"
                next_index[0] += 1
            value, _ = self.get_field(field, args, kwargs)
            spend_items(value, writes=True)
            value = self.convert_field(value, conversion)
            plain_spec = str.__str__(self._formatted(spec or "", args, kwargs, next_index, depth - 1))
            parts.append(self._field(format_string, value, plain_spec))
        return joined(parts)

    def _field(self, format_string: str, value: Any, spec: str) -> Text:
        if spec:
            for number in _NUMBER.findall(spec):
                spend_characters(int(number))
            value = self.format_field(value, spec)
        text = _of_format(format_string, value if isinstance(value, str) else self.format_field(value, ""))
        operand = format_string._operand(text) if isinstance(format_string, Text) else text
        return operand if isinstance(operand, Text) else Text(operand)
