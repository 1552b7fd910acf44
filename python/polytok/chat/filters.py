"""The filters of chat templates: jinja's, with those that would lose origins or build huge values replaced."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any

from jinja2 import pass_environment
from jinja2.filters import FILTERS, do_batch, do_int, do_round, do_wordwrap, make_attrgetter, sync_do_slice
from jinja2.runtime import Undefined
from jinja2.sandbox import SandboxedEnvironment
from jinja2.tests import TESTS

from .budget import STEPS_OF_TEXT, check_number, spend_characters, spend_items, spend_steps, weigh
from .origin import SafeText, Text, escaped, from_message, joined, single_origin

_MAX_INDENT = 1000
_MAX_DIGITS = 1000


def all_filters() -> dict[str, Callable[..., Any]]:
    """Returns the filters by name."""
    filters = {**FILTERS, **_OWN_FILTERS}
    return {name: _counted(name, function) for name, function in filters.items()}


def all_tests() -> dict[str, Callable[..., Any]]:
    """Returns the tests that compare values, by name."""
    tests: Mapping[str, Any] = TESTS
    return {name: _weighed(tests[name]) for name in _COMPARISONS}


def text_of(value: Any) -> str:
    """Returns ``str(value)``, and counts the texts in a list or dict before they are written."""
    if type(value) is Text:
        return value
    if isinstance(value, (list, tuple, dict)):
        spend_items(value, writes=True)
    return str(value)


def tojson(
    value: Any,
    ensure_ascii: bool = False,
    indent: Any = None,
    separators: Any = None,
    sort_keys: bool = False,
) -> Text:
    """Writes a value as JSON, as transformers does: without escapes for HTML and, by default, for other letters.

    The result belongs to the message whose texts are in the value, and is never the template's.
    """
    _check_indent(indent)
    spend_items(value, writes=True)
    if indent is not None or separators is not None:
        _spend_layout(value, indent, separators)
    content = json.dumps(
        value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=bool(sort_keys)
    )
    spend_characters(len(content))
    return from_message(content, single_origin(_texts_in(value)))


def _spend_layout(value: Any, indent: Any, separators: Any) -> None:
    """Counts the characters that JSON writes between the items of a value."""
    width = (len(indent) if isinstance(indent, str) else indent or 0) + 1
    extra = sum(map(len, separators or ()))
    pending = [(value, 1)]
    while pending:
        item, depth = pending.pop()
        if isinstance(item, (dict, list, tuple)):
            spend_characters((len(item) + 1) * (width * depth + extra))
            pending += [(child, depth + 1) for child in (item.values() if isinstance(item, dict) else item)]


def _texts_in(value: Any) -> Iterable[str]:
    """Yields all texts in a value, keys included."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, Mapping):
            pending += [*item, *item.values()]
        elif isinstance(item, (list, tuple)):
            pending += item


@pass_environment
def _join(environment: SandboxedEnvironment, value: Iterable[Any], d: Any = "", attribute: Any = None) -> Text:
    items = value if attribute is None else map(make_attrgetter(environment, attribute), value)
    separator = str(d)
    text = separator if isinstance(separator, Text) else Text(separator)
    return text.join([text_of(item) for item in items])


def _indent(value: Any, width: Any = 4, first: bool = False, blank: bool = False) -> Text:
    _check_indent(width)
    indention = width if isinstance(width, str) else " " * width
    lines = (_text(value) + "\n").splitlines()
    separators = ["\n" if line or blank else line for line in lines[1:]]
    rows: list[str] = [indention, lines[0]] if first else [lines[0]]
    for line, _ in zip(lines[1:], separators, strict=True):
        rows += ["\n", indention, line] if line or blank else ["\n", line]
    return joined(rows)


def _safe(value: Any) -> SafeText:
    if hasattr(value, "__html__"):
        return SafeText(value.__html__())
    text = _text(str(value))
    return SafeText(str.__str__(text), text._runs)


def _replace(s: Any, old: Any, new: Any, count: int | None = None) -> Text:
    text = str(s)
    return _text(text).replace(str(old), str(new), -1 if count is None else count)


def _int(value: Any, default: int = 0, base: int = 10) -> int:
    if isinstance(value, str) and base != 10:  # Python itself limits decimal numbers
        check_number(len(value))
    return do_int(value, default, base)


def _round(value: float, precision: int = 0, method: Any = "common") -> Any:
    if abs(precision) > _MAX_DIGITS:
        raise ValueError(f"round: the precision {precision} is not within {_MAX_DIGITS} digits")
    return do_round(value, precision, method)


@pass_environment
def _sum(environment: SandboxedEnvironment, iterable: Iterable[Any], attribute: Any = None, start: Any = 0) -> Any:
    items = iterable if attribute is None else map(make_attrgetter(environment, attribute), iterable)
    total = start
    for item in items:
        total = environment.call_binop(None, "+", total, item)  # type: ignore[arg-type]
    return total


def _slices(value: Any, slices: int, fill_with: Any = None) -> Any:
    spend_steps(max(slices, 0))
    return sync_do_slice(value, slices, fill_with)


def _batches(value: Any, linecount: int, fill_with: Any = None) -> Any:
    spend_steps(max(linecount, 0))
    return do_batch(value, linecount, fill_with)


@pass_environment
def _wordwrap(environment: Any, s: str, width: int = 79, *others: Any, **keywords: Any) -> Any:
    wrap = keywords.get("wrapstring") or (others[1] if len(others) > 1 else None) or "\n"
    spend_characters(len(s) * len(wrap))
    spend_steps(len(s) * (STEPS_OF_TEXT + len(s) // 64) // max(width, 1))
    return do_wordwrap(environment, s, width, *others, **keywords)


def _check_indent(indent: Any) -> None:
    if (len(indent) if isinstance(indent, str) else indent or 0) > _MAX_INDENT:
        raise ValueError(f"the indent is longer than {_MAX_INDENT} characters")


def _text(value: Any) -> Text:
    return value if isinstance(value, Text) else Text(value if isinstance(value, str) else str(value))


_OWN_FILTERS: Mapping[str, Callable[..., Any]] = {
    "batch": _batches,
    "center": lambda value, width=80: _text(value).center(width),
    "e": escaped,
    "escape": escaped,
    "forceescape": lambda value: escaped(str(value)),
    "indent": _indent,
    "int": _int,
    "join": _join,
    "replace": _replace,
    "round": _round,
    "safe": _safe,
    "slice": _slices,
    "sum": _sum,
    "tojson": tojson,
    "wordwrap": _wordwrap,
}


def _counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a filter that counts the items that it reads and returns as steps."""
    place = 1 if hasattr(function, "jinja_pass_arg") else 0

    @wraps(function)
    def filter(*args: Any, **keywords: Any) -> Any:
        value = args[place] if len(args) > place else None
        if type(value) is str:
            args = (*args[:place], Text(value), *args[place + 1 :])
        if name in _WITHOUT_WORK:
            return function(*args, **keywords)
        spend_steps(8 + _size(value))
        if name not in _SHALLOW:
            if not isinstance(value, str):
                spend_items(value, writes=True)
            for argument in args[place + 1 :]:
                weigh(argument)
        if isinstance(value, str):
            spend_steps(len(value) * _STEPS_OF_CHARACTER.get(name, 0))
            spend_steps(len(value) * len(value) // 256 if name in _QUADRATIC else 0)
        result = function(*args, **keywords)
        spend_steps(_STEPS_OF_ITEM * _size(result))
        return result

    return filter


def _weighed(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a test that counts the work of comparing two values."""

    @wraps(function)
    def test(value: Any, other: Any) -> Any:
        return function(weigh(value), weigh(other))

    return test


_STEPS_OF_ITEM = 4
# Filters that do not look at the items of a value, that do not look into the items, and that are slow for long texts.
_WITHOUT_WORK = frozenset(("count", "d", "default", "first", "last", "length"))
_SHALLOW = frozenset(
    ("attr", "batch", "items", "join", "list", "map", "random", "reject", "rejectattr", "reverse", "select")
) | {"selectattr", "slice", "sum", "tojson"}
_STEPS_OF_CHARACTER = {"title": 8, "urlencode": 4}
_QUADRATIC = frozenset(("striptags", "urlize", "wordcount"))
_COMPARISONS = frozenset(("in", "==", "eq", "equalto", "!=", "ne", ">", "gt", "greaterthan", ">=", "ge", "<", "lt")) | {
    *("lessthan", "<=", "le"),
}


def _size(value: Any) -> int:
    """Returns the number of items of a collection, and one for 64 characters of a text."""
    if isinstance(value, str):
        return len(value) // 64
    if isinstance(value, Undefined) or not hasattr(value, "__len__"):
        return 0
    return len(value)
