"""Texts as characters: a text in which every index is a place where the text can be cut.

A ``str`` is repaired as for encoding: pairs of surrogates are joined, and lone ones replaced. In ``bytes``, each byte
that is not UTF-8 is a character; it becomes a surrogate, as by Python's ``surrogateescape``.
"""

from __future__ import annotations

from typing import TypeAlias, overload

from ..parts import Parts, repaired_parts
from ..utf8 import repaired
from ..values import Text
from .part_characters import PartCharacters

Characters: TypeAlias = str | PartCharacters


@overload
def characters(text: Text) -> str: ...
@overload
def characters(text: Text | Parts) -> Characters: ...
def characters(text: Text | Parts) -> Characters:
    """Returns a text as characters.

    >>> characters("a\\ud83d\\ude00"), characters(b"a\\xff")
    ('a😀', 'a\\udcff')
    """
    if isinstance(text, Parts):
        return PartCharacters.of(repaired_parts(text))
    if isinstance(text, bytes):
        return text.decode("utf-8", "surrogateescape")
    return text if text.isascii() else repaired(text)


def str_of(characters: Characters) -> str:
    """Returns characters as a ``str``, without their trust."""
    return characters if isinstance(characters, str) else characters.text


def text_of(characters: Characters, original: Text | Parts) -> Text | Parts:
    """Returns characters as a text of the type of the original text."""
    if isinstance(characters, PartCharacters):
        return characters.parts
    return characters if isinstance(original, str) else characters.encode("utf-8", "surrogateescape")


def whole_character(text: Text, position: int) -> int:
    """Returns ``position``, or if a character reaches over it, the start of the character.

    >>> whole_character("é".encode(), 1), whole_character(b"a\\x80", 1)
    (0, 1)
    """
    if not 0 < position < len(text):
        return position
    if isinstance(text, str):
        is_pair = "\ud800" <= text[position - 1] < "\udc00" <= text[position] < "\ue000"
        return position - 1 if is_pair else position
    for start in range(position, max(position - 4, -1), -1):
        if text[start] & 0xC0 != 0x80:
            return start if text[start] >= 0xC0 else position
    return position
