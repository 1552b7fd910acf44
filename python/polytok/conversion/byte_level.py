"""GPT-2's table: every byte as a visible character. Hugging Face and GGUF write byte-level vocabularies with it."""

from __future__ import annotations

from functools import cache

from ..spec import Kind


@cache
def byte_of() -> dict[str, int]:
    """Character to byte. Printable Latin-1 stands for itself, the other bytes in order are U+0100 and the following.

    >>> byte_of()["\u0120"], byte_of()["a"]
    (32, 97)
    """
    own = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = [byte for byte in range(256) if byte not in own]
    return {chr(byte): byte for byte in own} | {chr(0x100 + n): byte for n, byte in enumerate(others)}


def row_of_text(text: str) -> tuple[bytes, Kind]:
    """The row that a file's text is in a vocabulary of bytes: its bytes, or itself where it is not of the table."""
    table = byte_of()
    if all(char in table for char in text):
        return bytes(table[char] for char in text), Kind.NORMAL
    return text.encode(), Kind.UNUSED
