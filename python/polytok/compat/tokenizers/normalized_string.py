"""`NormalizedString` of tokenizers 0.23: a text that changes and knows where each character comes from."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

from . import alone
from .arguments import boolean, check_function, text, unsigned
from .regex import SPLIT_BEHAVIORS, Regex, pattern_json

Span = tuple[int, int]
Match = tuple[int, int, bool]

WHITE_SPACE = frozenset(
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f"
    "\u205f\u3000"
)
"""The characters that Unicode calls white space; str.isspace has other control characters too."""

_PATTERN_ERROR = "failed to extract enum PyPattern ('str | tokenizers.Regex')"
_RANGE_ERROR = "failed to extract enum PyRange ('int | Tuple[uint, uint] | slice')"


class NormalizedString:
    """A text with the original of each character: tokenizers.NormalizedString."""

    __slots__ = ("_original", "_shift", "_spans", "_text")

    def __init__(self, sequence: str) -> None:
        self._text = text(sequence)
        self._original = sequence.encode()
        self._shift = 0  # the bytes before this text in the text of which it is a part
        ends = [0]
        for character in sequence:
            ends.append(ends[-1] + len(character.encode()))
        self._spans: list[Span] = list(pairwise(ends))

    @property
    def normalized(self) -> str:
        return self._text

    @property
    def original(self) -> str:
        return self._original.decode()

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f'NormalizedString(original="{self.original}", normalized="{self._text}")'

    # Parts

    def __getitem__(self, range: int | tuple[int, int] | slice) -> NormalizedString | None:
        return self.slice(range)

    def slice(self, range: int | tuple[int, int] | slice) -> NormalizedString | None:
        start, stop = _range_of(range, len(self._text.encode()))
        count = len(self._text)
        if start == stop:
            return self._part(start, start) if start < count or start == 0 else None
        if stop < start:
            stop = count  # the original's subtraction wraps around here
        return self._part(start, min(stop, count)) if start < count else None

    def _part(self, start: int, stop: int) -> NormalizedString:
        """Returns the characters of a range, with their own original."""
        part = NormalizedString.__new__(NormalizedString)
        part._text = self._text[start:stop]
        if start == stop:  # the original takes the offset in the normalized text
            first = len(self._text[:start].encode())
            part._original, part._spans, part._shift = b"", [], self._shift + first
            return part
        first, last = self._spans[start][0], self._spans[stop - 1][1]
        part._original = self._original[first:last]
        part._spans = [(begin - first, end - first) for begin, end in self._spans[start:stop]]
        part._shift = self._shift + first
        return part

    def split(self, pattern: str | Regex, behavior: str) -> list[NormalizedString]:
        matches = _matches(pattern, self._text)
        if text(getattr(behavior, "value", behavior)) not in SPLIT_BEHAVIORS:
            names = ", ".join(SPLIT_BEHAVIORS)
            raise ValueError(f"Wrong value for SplitDelimiterBehavior, expected one of: `{names}`")
        return [self._part(start, stop) for start, stop in _pieces(matches, getattr(behavior, "value", behavior))]

    # Changes

    def transform(self, range: Span, changes: Iterable[tuple[str, int]], skipped: int = 0) -> None:
        """Replaces the characters of a range, of which the first ``skipped`` are removed.

        A change is a character and a number: 0 if it replaces one character, 1 if it is inserted, and -n if it replaces
        one character and n following ones are removed.
        """
        start, stop = range
        at, characters, spans = start + skipped, [], []
        for character, change in changes:
            if change > 0:
                spans.append(self._spans[at - 1] if at else (0, 0))
            else:
                spans.append(self._spans[at])
                at += 1 - change
            characters.append(character)
        self._text = self._text[:start] + "".join(characters) + self._text[stop:]
        self._spans[start:stop] = spans

    def _whole(self) -> Span | None:
        """Returns the range of characters that come from the whole original text."""
        size = len(self._original)
        if not size:
            return 0, 0
        inner = [at for at, (start, end) in enumerate(self._spans) if start != end]
        if not self._spans:
            return None
        count = len(self._spans)
        return (inner[0], count) if inner else (count, count)

    def _transform_whole(self, changes: Iterable[tuple[str, int]]) -> None:
        self._check_whole()
        self.transform((0, len(self._text)), changes)

    def _check_whole(self) -> None:
        """Raises an error if a part of the text comes from nothing, which the original repeats when it is changed."""
        if self._text and self._whole() != (0, len(self._text)):
            raise NotImplementedError("a text that was appended to an empty text cannot be changed: change it before")

    def apply(self, state: bytes) -> None:
        """Runs a normalizer of the engine; ``state`` is its JSON."""
        self._check_whole()
        self.replace_all(alone.normalize_with_spans(state, self._text))

    def replace_all(self, part: alone.Piece) -> None:
        """Replaces the text by one whose characters come from characters of this text."""
        self._spans = [self._spans[start] if start < stop else (0, 0) for start, stop in part.spans]
        self._text = part.text

    def piece(self, part: alone.Piece) -> NormalizedString:
        """Returns a piece to which a pre-tokenizer split this text."""
        piece = self._part(part.spans[0][0], part.spans[-1][1])
        first = part.spans[0][0]
        piece.replace_all(alone.Piece(part.text, [(start - first, stop - first) for start, stop in part.spans]))
        return piece

    def nfd(self) -> None:
        self.apply(_state("NFD"))

    def nfkd(self) -> None:
        self.apply(_state("NFKD"))

    def nfc(self) -> None:
        self.apply(_state("NFC"))

    def nfkc(self) -> None:
        self.apply(_state("NFKC"))

    def lowercase(self) -> None:
        self._change_case(str.lower)

    def uppercase(self) -> None:
        self._change_case(str.upper)

    def _change_case(self, change: Callable[[str], str]) -> None:
        changed = (change(character) for character in self._text)
        self._transform_whole([(new, int(at > 0)) for characters in changed for at, new in enumerate(characters)])

    def prepend(self, s: str) -> None:
        if not self._text:
            text(s)
            return
        changes = [(character, int(at > 0)) for at, character in enumerate(text(s))]
        self.transform((0, 1), [*changes, (self._text[0], 1)])

    def append(self, s: str) -> None:
        changes = [(character, 1) for character in text(s)]
        count = len(self._text)
        if count:
            self.transform((count - 1, count), [(self._text[-1], 0), *changes])
        else:
            self.transform((0, 0), changes)

    def lstrip(self) -> None:
        self._strip(True, False)

    def rstrip(self) -> None:
        self._strip(False, True)

    def strip(self) -> None:
        self._strip(True, True)

    def _strip(self, left: bool, right: bool) -> None:
        start, stop = 0, len(self._text)
        while left and start < stop and self._text[start] in WHITE_SPACE:
            start += 1
        while right and stop > start and self._text[stop - 1] in WHITE_SPACE:
            stop -= 1
        if stop - start < len(self._text):
            self._check_whole()
        self._text, self._spans = self._text[start:stop], self._spans[start:stop]

    def clear(self) -> None:
        self._check_whole()
        self._text, self._spans = "", []

    def filter(self, func: Callable[[str], bool]) -> None:
        check_function(func, "`filter` expect a callable with the signature: `fn(char) -> bool`")
        self._check_whole()
        kept = [at for at, character in enumerate(self._text) if boolean(func(character))]
        self._text = "".join([self._text[at] for at in kept])
        self._spans = [self._spans[at] for at in kept]

    def for_each(self, func: Callable[[str], Any]) -> None:
        check_function(func, "`for_each` expect a callable with the signature: `fn(char)`")
        for character in self._text:
            func(character)

    def map(self, func: Callable[[str], str]) -> None:
        check_function(func, "`map` expect a callable with the signature: `fn(char) -> char`")
        changed = [text(func(character)) for character in self._text]
        if not all(changed):
            raise Exception("`map` expect a callable with the signature: `fn(char) -> char`")
        self._transform_whole([(character[0], 0) for character in changed])

    def replace(self, pattern: str | Regex, content: str) -> None:
        matches = [match for match in _matches(pattern, self._text) if match[2]]
        for start, stop, _ in reversed(matches):
            self.transform((start, stop), [(character, 1) for character in text(content)], stop - start)

    # Offsets

    def original_range(self) -> Span:
        """Returns the range of bytes in the text of which this is a part."""
        return self._shift, self._shift + len(self._original)

    def range_of_bytes(self, start: int, stop: int) -> Span:
        """Returns the range of the original for a range of bytes of the normalized text."""
        if start == stop:
            return self._shift + start, self._shift + stop
        rows = [at for at, character in enumerate(self._text) for _ in character.encode()]
        if not 0 <= start < stop <= len(rows):
            return start, stop
        return self._shift + self._spans[rows[start]][0], self._shift + self._spans[rows[stop - 1]][1]


class NormalizedStringRefMut:
    """What a normalizer in Python receives: the methods of a `NormalizedString` for the time of the call."""

    __slots__ = ("_target",)

    def __init__(self, target: NormalizedString) -> None:
        self._target: NormalizedString | None = target

    def target(self) -> NormalizedString:
        """Returns the text; raises a plain Exception after the call."""
        if self._target is None:
            raise Exception("Cannot use a NormalizedStringRefMut outside `normalize`")
        return self._target

    def release(self) -> None:
        """Ends the use of this object."""
        self._target = None

    def __getattr__(self, name: str) -> Any:
        if name not in _SHARED:
            raise AttributeError(f"'NormalizedStringRefMut' object has no attribute {name!r}")
        return getattr(self.target(), name)


_SHARED = frozenset(
    (
        *("append", "clear", "filter", "for_each", "lowercase", "lstrip", "map", "nfc", "nfd", "nfkc", "nfkd"),
        *("normalized", "original", "prepend", "replace", "rstrip", "slice", "split", "strip", "uppercase"),
    )
)


def _state(kind: str) -> bytes:
    return f'{{"type":"{kind}"}}'.encode()


def _range_of(range: Any, size: int) -> Span:
    """Returns a range of characters; ``size`` is the number of bytes, to which negative numbers refer."""
    if isinstance(range, slice):
        start, stop, _ = range.indices(size)
        return start, stop
    if isinstance(range, tuple) and len(range) == 2:
        return unsigned(range[0]), unsigned(range[1])
    if not hasattr(range, "__index__"):
        raise TypeError(_RANGE_ERROR)
    at: int = range.__index__()
    if -at > size:
        raise ValueError(f"{-at} is bigger than max len")
    at += size if at < 0 else 0
    return at, at + 1


def _matches(pattern: object, inside: str) -> list[Match]:
    """Returns the matches of a pattern, and the text between them, as ranges of characters."""
    if not isinstance(pattern, (str, Regex)):
        raise TypeError(_PATTERN_ERROR)
    if not inside:
        return [(0, 0, False)]
    if isinstance(pattern, Regex):
        return alone.matches(json.dumps(pattern_json(pattern)), inside)
    matches: list[Match] = []
    at = 0
    while pattern and (start := inside.find(pattern, at)) >= 0:
        matches += [(at, start, False)] if at < start else []
        at = start + len(pattern)
        matches.append((start, at, True))
    return [*matches, (at, len(inside), False)] if at < len(inside) else matches


def _pieces(matches: list[Match], behavior: str) -> list[Span]:
    """Returns the pieces that matches of a delimiter make."""
    if behavior == "removed":
        return [(start, stop) for start, stop, is_match in matches if not is_match]
    if behavior == "isolated":
        return [(start, stop) for start, stop, _ in matches]
    backwards = behavior == "merged_with_next"
    pieces: list[Span] = []
    was_match = False
    for start, stop, is_match in reversed(matches) if backwards else matches:
        joins = is_match == was_match if behavior == "contiguous" else is_match and not was_match
        if joins and pieces:
            last = pieces[-1]
            pieces[-1] = (start, last[1]) if backwards else (last[0], stop)
        else:
            pieces.append((start, stop))
        was_match = is_match
    return pieces[::-1] if backwards else pieces
