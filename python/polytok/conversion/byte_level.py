"""Converts texts of Hugging Face's byte-level vocabularies to vocabulary rows of bytes."""

from __future__ import annotations

from ..byte_level import BYTES
from ..spec import Kind


def row_of_text(text: str) -> tuple[bytes, Kind]:
    """Returns the row of a text: the bytes of its characters by GPT-2's table, or its UTF-8 if a character is not in
    the table."""
    if all(char in BYTES for char in text):
        return bytes(BYTES[char] for char in text), Kind.NORMAL
    return text.encode(), Kind.UNUSED
