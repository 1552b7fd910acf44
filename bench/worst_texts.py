"""Generates texts on which tokenizers are slow: long runs without a split, and bytes without merges.

The texts can have any size. Each round has different characters, so that no cache holds pieces of an earlier round.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from .cases import Text

Make = Callable[[int, int], bytes]
"""A function that returns a text of about ``size`` bytes for a round."""


def run_of(characters: str) -> Make:
    """Returns a function that repeats one character; the round selects the character."""

    def make(size: int, turn: int) -> bytes:
        character = characters[turn % len(characters)].encode()
        return character * (size // len(character))

    return make


def random_of(characters: bytes) -> Make:
    def make(size: int, turn: int) -> bytes:
        return bytes(random.Random(turn).choices(characters, k=size))

    return make


MAKERS: dict[str, Make] = {
    "one letter": run_of("aeno"),
    "random letters": random_of(b"abcdefghijklmnopqrstuvwxyz"),
    "one sign": run_of("^=-*"),
    "one class": random_of(b"!#$%&*+,-./:;<=>?@^_|~"),
    "digits": random_of(b"0123456789"),
    "spaces": run_of(" "),
    "line breaks": run_of("\n"),
    "emoji": run_of("😀🎉👍🚀"),
    "one ideograph": run_of("世的人国"),
    "invalid UTF-8": random_of(b"\xff\xc0\x80\xfe"),
}


def worst_text(name: str, size: int, turn: int) -> str | bytes:
    """Returns the text, as bytes if it is not UTF-8."""
    data = MAKERS[name](size, turn)
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


WORST = tuple(Text(name, name, (name,)) for name in MAKERS)
