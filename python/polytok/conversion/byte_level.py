"""Texts of Hugging Face's byte-level vocabularies as rows of bytes."""

from __future__ import annotations

from ..byte_level import BYTES
from ..spec import Kind


def row_of_text(text: str) -> tuple[bytes, Kind]:
    """The row that a file's text is in a vocabulary of bytes: its bytes, or itself if it is not of the table."""
    if all(char in BYTES for char in text):
        return bytes(BYTES[char] for char in text), Kind.NORMAL
    return text.encode(), Kind.UNUSED
