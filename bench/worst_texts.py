"""Generates texts on which tokenizers are slow: long runs without a split, and bytes without merges.

The texts can have any size. Each round has different characters, so that no cache holds pieces of an earlier round.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from .cases import Text

Maker = Callable[[int, int], bytes]
"""A function that returns a text of about ``size`` bytes for a round."""


def repeat_character(characters: str) -> Maker:
    """Returns a function that repeats one character; the round selects the character."""

    def make(size: int, turn: int) -> bytes:
        character = characters[turn % len(characters)].encode()
        return character * (size // len(character))

    return make


def choose_characters(characters: bytes) -> Maker:
    def make(size: int, turn: int) -> bytes:
        return bytes(random.Random(turn).choices(characters, k=size))

    return make


MAKERS: dict[str, Maker] = {
    "one letter": repeat_character("aeno"),
    "random letters": choose_characters(b"abcdefghijklmnopqrstuvwxyz"),
    "one sign": repeat_character("^=-*"),
    "one class": choose_characters(b"!#$%&*+,-./:;<=>?@^_|~"),
    "digits": choose_characters(b"0123456789"),
    "spaces": repeat_character(" "),
    "line breaks": repeat_character("\n"),
    "emoji": repeat_character("😀🎉👍🚀"),
    "one ideograph": repeat_character("世的人国"),
    "invalid UTF-8": choose_characters(b"\xff\xc0\x80\xfe"),
}


def worst_text(name: str, size: int, turn: int) -> str | bytes:
    """Returns the worst text of this name, as bytes if the text is not UTF-8."""
    data = MAKERS[name](size, turn)
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


WORST_TEXTS = tuple(Text(name, name, (name,)) for name in MAKERS)
