"""Converts regular expressions from the engine's syntax (fancy_regex) to Oniguruma's; ../oniguruma.py does the
opposite.

Most patterns mean the same in both syntaxes. Two common constructs differ. ``{m,n}+`` is possessive in the
engine, but in Oniguruma the plus repeats the repetition. In Oniguruma, ``$`` also matches before a line break. A
pattern with any other construct that differs is an error.
"""

from __future__ import annotations

import re
from typing import Any

from ...errors import FormatError
from ...patterns import COMPONENT_PATTERNS
from ...records import replace
from ...spec import ChainDecode, PatternSplit, Replace, ReplaceDecode
from ..oniguruma import translate

_TOKEN_PATTERN = re.compile(
    r"(?P<escape>\\(?:[pP]\{[^}]*\}|x\{[^}]*\}|x[0-9A-Fa-f]{2}|.))|(?P<open>\()|(?P<close>\))|(?P<bracket>\[)"
    r"|(?P<interval>\{[0-9]+(?:,[0-9]*)?\}\+)|(?P<end>\$)|(?P<other>.)",
    re.DOTALL,
)
_CLASS_TOKEN_PATTERN = re.compile(r"\\.|\[:[^\]]*:\]|.", re.DOTALL)


def to_oniguruma(pattern: str) -> str:
    """Returns the pattern in Oniguruma's syntax; raises FormatError if Oniguruma would read it differently.

    >>> to_oniguruma(r"\\p{N}{1,3}+|\\s++$")
    '(?>\\\\p{N}{1,3})|\\\\s++\\\\z'
    """
    converted_pattern = _convert_constructs(pattern)
    if translate(converted_pattern) != converted_pattern:
        raise FormatError(f"Oniguruma reads this pattern differently: {pattern:.100}")
    return converted_pattern


def to_canonical_form(value: Any) -> Any:
    """Converts a step, a tuple of steps or a decoder to the form that it has after it was written and read.

    A difference that remains after this conversion is a loss.
    """
    if isinstance(value, tuple):
        return tuple(to_canonical_form(step) for step in value)
    if isinstance(value, ChainDecode) and value.steps is not None:
        return replace(value, steps=to_canonical_form(value.steps))
    if isinstance(value, PatternSplit) and value.behavior == "matches":
        value = replace(value, behavior="removed", invert=not value.invert)
    if (
        isinstance(value, PatternSplit | Replace | ReplaceDecode)
        and value.is_regex
        and value.pattern not in COMPONENT_PATTERNS
    ):
        return replace(value, pattern=translate(to_oniguruma(value.pattern)))
    return value


def _convert_constructs(pattern: str) -> str:
    out: list[str] = []
    open_groups: list[int] = []
    last_atom_start, at = 0, 0
    while match := _TOKEN_PATTERN.match(pattern, at):
        at = match.end()
        if match["interval"]:
            out[last_atom_start:] = ["(?>", *out[last_atom_start:], match[0][:-1], ")"]
            continue
        if match["close"] and open_groups:
            last_atom_start = open_groups.pop()
        else:
            last_atom_start = len(out)
        if match["open"]:
            open_groups.append(last_atom_start)
        if match["bracket"]:
            end = _class_end(pattern, at)
            out.append(pattern[at - 1 : end])
            at = end
        else:
            out.append(r"\z" if match["end"] else match[0])
    return "".join(out)


def _class_end(pattern: str, at: int) -> int:
    """Returns the offset after a bracketed class whose members begin at ``at``."""
    depth = 1
    while depth and (match := _CLASS_TOKEN_PATTERN.match(pattern, at)):
        at = match.end()
        depth += {"[": 1, "]": -1}.get(match[0], 0)
    return at
