"""Converts texts of Hugging Face's byte-level vocabularies to vocabulary rows of bytes."""

from __future__ import annotations

from ..byte_level import BYTES
from ..spec import Kind


def row_of_text(text: str) -> tuple[bytes, Kind]:
    """Returns the bytes of an entry: each character's byte in GPT-2's table.

    If a character is not in the table, returns the UTF-8 of the text.
    """
    if all(char in BYTES for char in text):
        return bytes(BYTES[char] for char in text), Kind.NORMAL
    return text.encode(), Kind.UNUSED
