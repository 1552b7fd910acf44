"""Marks the keywords of Python in error messages, so that the command can print flags in their place.

A message can contain a path or a text that is equal to the name of a keyword, so the command must not look for names.
`keyword` therefore puts characters around each keyword that a message names. `PolytokError` removes them from the
message that Python users see and keeps the marked message, which `marked_message` returns. The characters are
noncharacters: Unicode reserves them for such internal use, so texts do not contain them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_START, _END, _CALL = "\ufdd0", "\ufdd1", "\ufdd2"
_NO_VALUE = object()
_QUOTED = r'"(?:[^"\\]|\\.)*"'
MARKED_KEYWORD = re.compile(rf"{_START}(?P<name>\w+)(?:=(?P<value>[^{_START}{_END}]*))?{_END}")
MARKED_LOAD = re.compile(rf"{_CALL}polytok\.load\('(?P<path>[^']*)'(?P<options>[^{_CALL}]*)\){_CALL}")


def keyword(name: str, value: Any = _NO_VALUE) -> str:
    """Returns a marked keyword, with its value if one is given, for the message of a `PolytokError`.

    ``name`` can also contain the value, or other words after the name, as they are to be printed.

    >>> [without_marks(text) for text in (keyword("threads"), keyword("separator="), keyword("bad_bytes", "skip"))]
    ['threads', 'separator=', "bad_bytes='skip'"]
    """
    text = name if value is _NO_VALUE else f"{name}={value!r}"
    return re.sub(r"\w+(=.*)?", lambda match: f"{_START}{match[0]}{_END}", text, count=1, flags=re.DOTALL)


def load_call(path: str, **options: str) -> str:
    """Returns a marked call of ``polytok.load`` for a message: the command prints ``-m`` in its place.

    >>> without_marks(load_call("a.model", name="x"))
    "polytok.load('a.model', name='x')"
    """
    marked_options = "".join(f", {keyword(name, value)}" for name, value in options.items())
    return f"{_CALL}polytok.load('{path}'{marked_options}){_CALL}"


def without_marks(message: str, *, only_calls: bool = False) -> str:
    """Returns a message as Python users see it, or with the marks of keywords but not of calls."""
    message = MARKED_LOAD.sub(lambda match: match[0][1:-1], message) if _CALL in message else message
    if only_calls or _START not in message:
        return message
    return MARKED_KEYWORD.sub(lambda match: match[0][1:-1], message)


def marked_message(error: BaseException) -> str:
    """Returns the message of an error with the marks of its keywords, for a message that contains it."""
    return _with_marks(error, str(error))


def marked_reason(error: OSError) -> str:
    """Returns the reason of an error about a file, which `str` shows after the number, with the marks of keywords."""
    return _with_marks(error, str(error.strerror))


def _with_marks(error: BaseException, message: str) -> str:
    marked: str = getattr(error, "marked_messages", {}).get(message, message)
    return marked


def mark_engine_keywords(error: BaseException, *names: str) -> None:
    """Marks keywords in the message of an error of the engine, which writes texts of the user in double quotes.

    >>> error = ValueError('"threads=2" is long: special={"a"}')
    >>> mark_engine_keywords(error, "threads", "special")
    >>> MARKED_KEYWORD.search(marked_message(error))["value"]
    '{"a"}'
    """
    message = str(error)
    if marked_message(error) != message:
        return
    long_names = "|".join(name for name in names if "_" in name) or "(?!)"  # a name of one word can be a plain word
    value = rf"=(?:\{{{_QUOTED}\}}|{_QUOTED}|[\w.]+)?"
    pattern = rf"(?P<keyword>\b(?:(?:{'|'.join(names)}){value}|(?:{long_names})\b))|{_QUOTED}"

    def mark(match: re.Match[str]) -> str:
        return keyword(match["keyword"]) if match["keyword"] else match[0]

    vars(error)["marked_messages"] = {message: re.sub(pattern, mark, message)}


@contextmanager
def engine_keywords(*names: str) -> Iterator[None]:
    """Marks these keywords in the errors that the engine raises in the body of the ``with`` statement."""
    try:
        yield
    except ValueError as error:
        mark_engine_keywords(error, *names)
        raise
