"""Generates texts on which tokenizers are slow, such as one letter repeated or bytes that never merge.

The texts can have any size. Each round uses other characters than the round before, so that no cache contains the
pieces.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from .cases import Text

TextGenerator = Callable[[int, int], bytes]
"""A function that returns a text of about ``size`` bytes for a round."""


def repetition_generator(characters: str) -> TextGenerator:
    """Returns a generator of texts that repeat one character; each round uses another character."""

    def generate_text(size: int, turn: int) -> bytes:
        character = characters[turn % len(characters)].encode()
        return character * (size // len(character))

    return generate_text


def random_text_generator(characters: bytes) -> TextGenerator:
    def generate_text(size: int, turn: int) -> bytes:
        return bytes(random.Random(turn).choices(characters, k=size))

    return generate_text


TEXT_GENERATORS: dict[str, TextGenerator] = {
    "one letter": repetition_generator("aeno"),
    "random letters": random_text_generator(b"abcdefghijklmnopqrstuvwxyz"),
    "one sign": repetition_generator("^=-*"),
    "one class": random_text_generator(b"!#$%&*+,-./:;<=>?@^_|~"),
    "digits": random_text_generator(b"0123456789"),
    "spaces": repetition_generator(" "),
    "line breaks": repetition_generator("\n"),
    "emoji": repetition_generator("😀🎉👍🚀"),
    "one ideograph": repetition_generator("世的人国"),
    "invalid UTF-8": random_text_generator(b"\xff\xc0\x80\xfe"),
}


def generate_worst_text(name: str, size: int, turn: int) -> str | bytes:
    """Returns the worst text with this name, as bytes if the text is not UTF-8."""
    data = TEXT_GENERATORS[name](size, turn)
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


WORST_TEXTS = tuple(Text(name, name, (name,)) for name in TEXT_GENERATORS)
