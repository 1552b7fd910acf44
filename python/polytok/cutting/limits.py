"""Whether a text has at most a number of tokens, and its longest start or end that has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..errors import ArgumentError
from ..keywords import keyword
from ..parts import Parts
from ..values import Text
from .characters import Characters, characters, text_of, whole_character
from .counts import Prefixes, Suffixes
from .engine import Engine

_CHARACTERS_PER_TOKEN = 8
_FIRST_CHARACTERS = 4096
_GROWTH = 8


class TokenLimit(NamedTuple):
    """The engine with the options of a call, the largest number of tokens, and how many of them a template adds."""

    engine: Engine
    max_tokens: int
    added_tokens: int

    @property
    def of_text(self) -> int:
        """The largest number of tokens of the text itself. Raises `ArgumentError` if not even the template fits."""
        if self.max_tokens < self.added_tokens:
            counted_tokens = f"{self.added_tokens} token{'s' * (self.added_tokens != 1)}"
            raise ArgumentError(
                f"{keyword('max_tokens', self.max_tokens)} is less than the {counted_tokens} that "
                f"{keyword('add_special', True)} adds to every text"
            )
        return self.max_tokens - self.added_tokens


def _is_short(text: Text | Parts, limit: TokenLimit) -> bool:
    """Reports whether a text is so short that counting all of it costs little more than looking for a cut."""
    return len(text.text if isinstance(text, Parts) else text) <= _first_length(limit.max_tokens)


def fits(text: Text | Parts, limit: TokenLimit) -> bool:
    """Reports whether a text has at most ``limit.max_tokens`` tokens. Stops as soon as the answer is certain."""
    if limit.max_tokens < limit.added_tokens:
        return False
    if isinstance(text, Parts) or _is_short(text, limit):
        return limit.engine.count_text(text) <= limit.of_text
    engine = limit.engine.for_text(text)
    for start, is_whole in _starts(text, limit.max_tokens):
        if (bound := Prefixes(engine, start, is_whole=is_whole).bound(limit.of_text)) is not None:
            return bound > len(start)
    raise AssertionError("the whole text has a bound")


def truncate(text: Text | Parts, limit: TokenLimit, direction: str) -> Text | Parts:
    """Returns the longest start of a text with at most ``limit.max_tokens`` tokens; with ``direction="left"``, the
    longest end."""
    return _longest_start(text, limit) if direction == "right" else _longest_end(text, limit)


def truncate_batch(texts: list[Text | Parts], limit: TokenLimit, direction: str, threads: int) -> list[Text | Parts]:
    """Truncates texts. Those that are short are first counted in threads, and returned as they are if they fit."""
    short_rows = [row for row, text in enumerate(texts) if _is_short(text, limit)]
    counts = limit.engine.count_texts([texts[row] for row in short_rows], threads)
    fitting_rows = {row for row, count in zip(short_rows, counts.tolist(), strict=True) if count <= limit.of_text}
    return [
        text_of(characters(text), text) if row in fitting_rows else truncate(text, limit, direction)
        for row, text in enumerate(texts)
    ]


def _longest_start(text: Text | Parts, limit: TokenLimit) -> Text | Parts:
    engine = limit.engine.for_text(text)
    for start, is_whole in _starts(text, limit.max_tokens):
        prefixes = Prefixes(engine, start, is_whole=is_whole)
        if (bound := prefixes.bound(limit.of_text)) is not None:
            end = prefixes.longest(range(bound - 1, 0, -1), limit.of_text) or 0
            return text_of(start[:end], text)
    raise AssertionError("the whole text has a bound")


def _longest_end(text: Text | Parts, limit: TokenLimit) -> Text | Parts:
    engine = limit.engine.for_text(text)
    for end, is_whole in _ends(text, limit.max_tokens):
        suffixes = Suffixes(engine, end, is_whole=is_whole)
        if (bound := suffixes.bound(limit.of_text)) is not None:
            start = suffixes.longest(range(bound + 1, len(end)), limit.of_text)
            return text_of(end[len(end) if start is None else start :], text)
    raise AssertionError("the whole text has a bound")


def _starts(text: Text | Parts, max_tokens: int) -> Iterator[tuple[Characters, bool]]:
    """Yields longer and longer starts of a text, and whether the start is the whole text. Parts are only yielded whole,
    because the trust of the whole text counts."""
    if isinstance(text, Parts):
        yield characters(text), True
        return
    length = _first_length(max_tokens)
    while length < len(text):
        yield characters(text[: whole_character(text, length)]), False
        length *= _GROWTH
    yield characters(text), True


def _ends(text: Text | Parts, max_tokens: int) -> Iterator[tuple[Characters, bool]]:
    """Yields longer and longer ends of a text, and whether the end is the whole text. Parts are only yielded whole."""
    if isinstance(text, Parts):
        yield characters(text), True
        return
    length = _first_length(max_tokens)
    while length < len(text):
        yield characters(text[whole_character(text, len(text) - length) :]), False
        length *= _GROWTH
    yield characters(text), True


def _first_length(max_tokens: int) -> int:
    return _CHARACTERS_PER_TOKEN * max_tokens + _FIRST_CHARACTERS
