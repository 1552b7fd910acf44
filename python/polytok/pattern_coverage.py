"""Whether a split pattern provably matches every character of every text, so that splitting drops nothing.

The proof: at any position some alternative of the pattern matches one or more characters, whatever follows. An
alternative promises that for the characters of a class if it is a sequence in which everything except one item of that
class is optional (`` ?\\p{L}+``, ``\\p{N}{1,3}``). Alternatives with look-around, or with more than one required item,
promise nothing. If the promised classes cover all characters, and no alternative can match the empty string (which
would hide the alternatives after it), nothing is dropped.

Classes are compared symbolically, on *cells*: every character that the pattern names, and every other pair of a general
category and being white space or not; each once with and once without every other property that the pattern names
(scripts). So the answer does not depend on a Unicode version. Whether a class contains a cell can be unknown (long
ranges); unknown never counts as covered. A pattern that this module does not understand is not covered either: False
means "not proven".

Cost: linear in the pattern times the number of cells, which doubles with each of at most three other properties.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

_CATEGORIES = (
    *("Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po"),
    *("Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Co", "Cn"),
)
_WHITE_SPACE = frozenset("\t\n\x0b\x0c\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000") | {
    chr(code) for code in range(0x2000, 0x200B)
}
_ESCAPED = {"r": "\r", "n": "\n", "t": "\t", "f": "\f", "v": "\v"}
_QUANTIFIER = re.compile(r"(?:([?*+])|\{(\d{1,4})(?:,\d{0,4})?\})([+?]?)")
_PROPERTY = re.compile(r"\\[pP](?:\{(\w+)\}|(\w))")
_LONGEST_RANGE = 256
_MOST_PARTS = 4096
_MAX_DEPTH = 16
_MOST_PROPERTIES = 3


class _Cell(NamedTuple):
    """One named character, or all other characters of a category; those with exactly these other properties."""

    category: str
    is_space: bool
    properties: frozenset[str]
    char: str | None = None


@dataclass(frozen=True, slots=True)
class _Set:
    """A class: what a union of parts and all of ``also`` have in common, or all but that. A part is ``s``, ``?``
    (unknown), ``.``, ``pL`` (a category), ``qHan`` (another property), or ``=c``."""

    parts: frozenset[str]
    negated: bool = False
    inner: tuple[_Set, ...] = ()
    also: tuple[_Set, ...] = ()

    def holds(self, cell: _Cell) -> bool | None:
        """Whether the cell is in the set; None if that is unknown."""
        answers = [_part_holds(part, cell) for part in self.parts] + [other.holds(cell) for other in self.inner]
        union = True if True in answers else None if None in answers else False
        both = [union, *(other.holds(cell) for other in self.also)]
        answer = False if False in both else None if None in both else True
        return answer if answer is None else answer != self.negated


@dataclass(frozen=True, slots=True)
class _Group:
    alternatives: tuple[tuple[_Item, ...], ...]


@dataclass(frozen=True, slots=True)
class _Item:
    """A set, a group, or (None) something that takes no characters; with the least number of times it must match."""

    what: _Set | _Group | None
    least: int = 1
    possessive: bool = False


class _NotUnderstood(Exception):
    pass


@lru_cache(maxsize=64)
def covers_all_text(pattern: str) -> bool:
    """Whether every character of every text is proven to be part of a match.

    >>> covers_all_text(r"\\w+|\\W+"), covers_all_text(r" ?\\S+|\\s")
    (False, True)
    """
    parser = _Parser(pattern)
    try:
        alternatives = parser.alternatives()
    except _NotUnderstood:
        return False
    if parser.at < len(pattern) or not all(map(_takes_something, alternatives)):
        return False
    promises = [promise for alternative in alternatives for promise in _promises(alternative)]
    literals = {"\n"} | {part[1] for part in parser.parts if part[0] == "="}
    return all(any(_keeps(promise, cell) for promise in promises) for cell in _cells(literals, parser.properties))


@lru_cache(maxsize=64)
def never_empty(pattern: str) -> bool:
    """Whether every match is proven to be non-empty.

    >>> never_empty(r" ?\\S+|\\s"), never_empty(r"a*")
    (True, False)
    """
    parser = _Parser(pattern)
    try:
        alternatives = parser.alternatives()
    except _NotUnderstood:
        return False
    return parser.at == len(pattern) and all(map(_takes_something, alternatives))


def _cells(literals: Iterable[str], names: Collection[str]) -> Iterator[_Cell]:
    for chosen in itertools.product((False, True), repeat=len(names)):
        properties = frozenset(itertools.compress(names, chosen))
        for category in _CATEGORIES:
            yield from (_Cell(category, False, properties), _Cell(category, True, properties))
        for char in literals:
            yield _Cell(unicodedata.category(char), char in _WHITE_SPACE, properties, char)


def _promises(alternative: tuple[_Item, ...]) -> Iterator[tuple[_Set, list[_Set]]]:
    """The set that an alternative matches one character of, without the sets whose items could consume it before."""
    needed = [item for item in alternative if item.least or item.what is None]
    if len(needed) != 1 or needed[0].least != 1 or not isinstance(needed[0].what, _Set):
        return
    eaters = []
    for item in alternative[: alternative.index(needed[0])]:
        if item.possessive:
            if not isinstance(item.what, _Set):
                return
            eaters.append(item.what)
    yield needed[0].what, eaters


def _keeps(promise: tuple[_Set, list[_Set]], cell: _Cell) -> bool:
    wanted, eaters = promise
    return wanted.holds(cell) is True and all(eater.holds(cell) is False for eater in eaters)


def _takes_something(alternative: tuple[_Item, ...]) -> bool:
    """Whether it never matches the empty string."""
    return any(
        item.least and (isinstance(item.what, _Set) or all(map(_takes_something, item.what.alternatives)))
        for item in alternative
        if item.what is not None
    )


def _part_holds(part: str, cell: _Cell) -> bool | None:
    if part[0] == "=":
        return cell.char == part[1]
    if part[0] == "p":
        return cell.category.startswith(part[1:])
    if part[0] == "q":
        return part[1:] in cell.properties
    if part == "s":
        return cell.is_space
    if part == ".":
        return None if cell.char == "\n" else True
    return None


class _Parser:
    """Parses a pattern to items; anything outside of the common syntax is `_NotUnderstood`."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.depth = 0
        self.parts: set[str] = set()
        self.properties: set[str] = set()

    def alternatives(self) -> tuple[tuple[_Item, ...], ...]:
        """``a|b|c``, to the end of the pattern or a closing parenthesis."""
        found = []
        while True:
            items = []
            while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
                items.append(self._item())
            found.append(tuple(items))
            if not self._eat("|"):
                return tuple(found)

    def _item(self) -> _Item:
        what: _Set | _Group | None
        for opening in ("(?=", "(?!", "(?<=", "(?<!"):
            if self._eat(opening):
                self._group()
                return _Item(None)
        if self._eat("^") or self._eat("$"):
            return _Item(None)
        if any(map(self._eat, ("(?:", "(?i:"))) or (not self._ahead("(?") and self._eat("(")):
            what = self._group()
        elif self._eat("["):
            what = self._class()
        elif self._eat("."):
            what = self._named(_Set(frozenset((".",))))
        elif self._ahead("\\"):
            what = self._escape()
        elif self.pattern[self.at] in "(?*+{":
            raise _NotUnderstood
        else:
            what = self._named(_Set(frozenset(("=" + self._take(),))))
        return self._quantified(what)

    def _quantified(self, what: _Set | _Group) -> _Item:
        found = _QUANTIFIER.match(self.pattern, self.at)
        if not found:
            return _Item(what)
        self.at = found.end()
        sign, count, mode = found.groups()
        least = int(count) if count else int(sign == "+")
        return _Item(what, least, possessive=mode == "+")

    def _group(self) -> _Group:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise _NotUnderstood
        group = _Group(self.alternatives())
        self.depth -= 1
        if not self._eat(")"):
            raise _NotUnderstood
        return group

    def _class(self) -> _Set:
        """The rest of ``[...]``; of set operations and nested classes only ``&&[...]`` at its end."""
        negated = self._eat("^")
        if self._ahead("]"):
            raise _NotUnderstood
        parts: set[str] = set()
        inner: list[_Set] = []
        also: list[_Set] = []
        while not self._eat("]"):
            if (parts or inner) and self._eat("&&["):
                also.append(self._class())
                continue
            if also or any(map(self._ahead, ("[", "&&", "--", "~~", "||"))):
                raise _NotUnderstood
            first = self._escape() if self._ahead("\\") else _Set(frozenset(("=" + self._take(),)))
            if self._ahead("-") and not self._ahead("-]"):
                self._take()
                last = self._escape() if self._ahead("\\") else _Set(frozenset(("=" + self._take(),)))
                parts |= _range(first, last)
            elif first.negated:
                inner.append(first)
            else:
                parts |= first.parts
        return self._named(_Set(frozenset(parts), negated, tuple(inner), tuple(also)))

    def _escape(self) -> _Set:
        """A class or a character that starts with a backslash."""
        if found := _PROPERTY.match(self.pattern, self.at):
            self.at = found.end()
            name = found[1] or found[2]
            known = name in _CATEGORIES or name in ("L", "M", "N", "P", "S", "Z")
            if not known:
                self.properties.add(name)
            if len(self.properties) > _MOST_PROPERTIES:
                raise _NotUnderstood
            return _Set(frozenset((("p" if known else "q") + name,)), negated=found[0][1] == "P")
        self._take()
        letter = self._take()
        if letter in "sS":
            return _Set(frozenset("s"), negated=letter == "S")
        if letter in "dD":
            return _Set(frozenset(("pNd",)), negated=letter == "D")
        if letter in "wW":
            return _Set(frozenset("?"), negated=letter == "W")
        if letter.isalnum() and letter not in _ESCAPED:
            raise _NotUnderstood
        return self._named(_Set(frozenset(("=" + _ESCAPED.get(letter, letter),))))

    def _named(self, named: _Set) -> _Set:
        self.parts |= named.parts
        if len(self.parts) > _MOST_PARTS:
            raise _NotUnderstood
        return named

    def _ahead(self, text: str) -> bool:
        return self.pattern.startswith(text, self.at)

    def _eat(self, text: str) -> bool:
        found = self._ahead(text)
        self.at += len(text) * found
        return found

    def _take(self) -> str:
        if self.at == len(self.pattern):
            raise _NotUnderstood
        self.at += 1
        return self.pattern[self.at - 1]


def _range(first: _Set, last: _Set) -> set[str]:
    """The characters of a short range; the content of a long one is left unknown."""
    ends = [part for named in (first, last) for part in named.parts]
    if first.negated or last.negated or len(ends) != 2 or any(end[0] != "=" for end in ends):
        raise _NotUnderstood
    low, high = (ord(end[1]) for end in ends)
    if high - low >= _LONGEST_RANGE:
        return {"?"}
    return {"=" + chr(code) for code in range(low, high + 1)}
