"""Finds the alternative of a split pattern that matched a piece.

A pattern is cut at its ``|`` outside of groups. Each alternative is then a pattern of its own, and is tried where the
whole pattern matched, in order: the first one that matches there with the same end is the one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..errors import PolytokError
from ..records import replace
from ..spec import PatternSplit
from .probes import Probes

_CONTEXT_BYTES = 32
"""The number of bytes after a match that are shown to an alternative: lookahead needs a character or two."""
_LEADING_FLAGS = re.compile(r"\(\?([a-zA-Z]+)\)")
_NEEDS_TEXT_BEFORE = re.compile(r"\(\?<[=!]|\\[bBAGK]|(?<!\[)\^")
_CANNOT_BE_CUT = re.compile(r"\\[1-9]|\\k<|\(\?P[=>]|\(\?[&(R0-9]|\(\?[a-zA-Z]*x")


def alternatives(pattern: str) -> tuple[str, ...]:
    r"""Returns the alternatives of a pattern, each as a pattern of its own. Flags at the start apply to all of them.

    >>> alternatives(r"\p{L}+|[|\]]|(?:a|b)c")
    ('\\p{L}+', '[|\\]]', '(?:a|b)c')
    """
    if _CANNOT_BE_CUT.search(pattern):
        return (pattern,)
    flags = _LEADING_FLAGS.match(pattern)
    prefix, body = (flags[0], pattern[flags.end() :]) if flags else ("", pattern)
    parts = _cut_at_bars(body)
    if len(parts) > 1 and any(_LEADING_FLAGS.search(part) for part in parts):
        return (pattern,)  # flags inside of a pattern also apply to the alternatives after them
    return tuple(prefix + part for part in parts)


def _cut_at_bars(pattern: str) -> list[str]:
    """Cuts a pattern at each ``|`` that is outside of groups and classes."""
    parts, start, depth, class_depth, at = [], 0, 0, 0, 0
    while at < len(pattern):
        character = pattern[at]
        if character == "\\":
            at += 2
            continue
        if class_depth:
            class_depth += (character == "[") - (character == "]")
        elif character == "[":
            class_depth = 1
            at += 1 + (pattern[at + 1 : at + 2] == "^")
            at += pattern[at : at + 1] == "]"  # a bracket at the start of a class is a literal
            continue
        elif character == "|" and depth == 0:
            parts.append(pattern[start:at])
            start = at + 1
        else:
            depth += (character == "(") - (character == ")")
        at += 1
    return [*parts, pattern[start:]]


class Alternatives:
    """The alternatives of one split step."""

    def __init__(self, probes: Probes, step: PatternSplit) -> None:
        self._probes = probes
        self.texts = alternatives(step.pattern) if step.is_regex else (step.pattern,)
        plain_step = replace(step, behavior="matches", invert=False)
        self._whole_step = plain_step
        self._steps = [replace(plain_step, pattern=text) for text in self.texts]
        self._can_try = len(self.texts) > 1 and not any(map(_NEEDS_TEXT_BEFORE.search, self.texts))
        self._found: dict[tuple[bytes, int], int | None] = {}

    def matches(self, text: bytes) -> list[tuple[int, int, int | None]]:
        """Returns the matches of the pattern in a text: the start, the end, and the index of the alternative, which is
        None if it is not known."""
        pieces = self._probes.split_by(self._whole_step, text)
        return [(piece.start, piece.end, self._alternative_at(text, piece.start, piece.end)) for piece in pieces]

    def _alternative_at(self, text: bytes, start: int, end: int) -> int | None:
        if not self._can_try:
            return 0 if len(self.texts) == 1 else None
        window = _window(text, start, end)
        key = (window, end - start)
        if key not in self._found:
            self._found[key] = self._first_match(window, end - start)
        return self._found[key]

    def _first_match(self, window: bytes, length: int) -> int | None:
        for index, step in enumerate(self._steps):
            try:
                first = self._probes.split_by(step, window)[:1]
            except PolytokError:  # the alternative is no pattern without the others
                return None
            if first and (first[0].start, first[0].end) == (0, length):
                return index
        return None


def _window(text: bytes, start: int, end: int) -> bytes:
    """Returns a match with the text after it, up to a border of characters."""
    last = min(len(text), end + _CONTEXT_BYTES)
    while last < len(text) and text[last] & 0xC0 == 0x80:
        last += 1
    return text[start:last]


def piece_alternative(matches: Sequence[tuple[int, int, int | None]], start: int, end: int) -> int | None:
    """Returns the alternative of the first match inside a piece; None if the piece is a gap between matches."""
    return next((alternative for first, last, alternative in matches if start <= first and last <= end), None)
