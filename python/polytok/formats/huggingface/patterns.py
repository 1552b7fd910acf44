"""Regular expressions of the engine (fancy_regex) as Oniguruma reads them: the way back of ../oniguruma.py.

Most patterns read the same in both. Two constructs of common patterns do not: ``{m,n}+`` repeats a repetition in
Oniguruma and is possessive in the engine, and ``$`` also stands before a line break there. What differs in another way
is refused.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from ...errors import FormatError
from ...patterns import OWN
from ...spec import ChainDecode, PatternSplit, Replace, ReplaceDecode
from ..oniguruma import translate

_TOKEN = re.compile(
    r"(?P<escape>\\(?:[pP]\{[^}]*\}|x\{[^}]*\}|x[0-9A-Fa-f]{2}|.))|(?P<open>\()|(?P<close>\))|(?P<bracket>\[)"
    r"|(?P<interval>\{[0-9]+(?:,[0-9]*)?\}\+)|(?P<end>\$)|(?P<other>.)",
    re.DOTALL,
)
_IN_CLASS = re.compile(r"\\.|\[:[^\]]*:\]|.", re.DOTALL)


def to_oniguruma(pattern: str) -> str:
    """The pattern in Oniguruma's syntax.

    >>> to_oniguruma(r"\\p{N}{1,3}+|\\s++$")
    '(?>\\\\p{N}{1,3})|\\\\s++\\\\z'
    """
    written = _rewritten(pattern)
    if translate(written) != written:
        raise FormatError(f"Oniguruma reads this pattern in another way: {pattern:.100}")
    return written


def canonical(value: Any) -> Any:
    """A step, several, or a decode as they are read again when they were written: what is left to compare is a loss."""
    if isinstance(value, tuple):
        return tuple(canonical(step) for step in value)
    if isinstance(value, ChainDecode) and value.steps is not None:
        return replace(value, steps=canonical(value.steps))
    if isinstance(value, PatternSplit) and value.behavior == "matches":
        value = replace(value, behavior="removed", invert=not value.invert)
    if isinstance(value, PatternSplit | Replace | ReplaceDecode) and value.is_regex and value.pattern not in OWN:
        return replace(value, pattern=translate(to_oniguruma(value.pattern)))
    return value


def _rewritten(pattern: str) -> str:
    out: list[str] = []
    opened: list[int] = []
    atom, at = 0, 0
    while match := _TOKEN.match(pattern, at):
        at = match.end()
        if match["interval"]:
            out[atom:] = ["(?>", *out[atom:], match[0][:-1], ")"]
            continue
        if match["close"] and opened:
            atom = opened.pop()
        else:
            atom = len(out)
        if match["open"]:
            opened.append(atom)
        if match["bracket"]:
            end = _class_end(pattern, at)
            out.append(pattern[at - 1 : end])
            at = end
        else:
            out.append(r"\z" if match["end"] else match[0])
    return "".join(out)


def _class_end(pattern: str, at: int) -> int:
    """Where a bracketed class ends whose first member is at a place."""
    depth = 1
    while depth and (match := _IN_CLASS.match(pattern, at)):
        at = match.end()
        depth += {"[": 1, "]": -1}.get(match[0], 0)
    return at
