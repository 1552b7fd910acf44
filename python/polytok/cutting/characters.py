"""Texts as characters: a text in which every index is a place where the text can be cut.

A ``str`` is repaired as for encoding: pairs of surrogates are joined, and lone ones replaced. In ``bytes``, each byte
that is not UTF-8 is a character; it becomes a surrogate, as by Python's ``surrogateescape``.
"""

from __future__ import annotations

from ..values import Text


def characters(text: Text) -> str:
    """Returns a text as characters.

    >>> characters("a\\ud83d\\ude00"), characters(b"a\\xff")
    ('a😀', 'a\\udcff')
    """
    if isinstance(text, bytes):
        return text.decode("utf-8", "surrogateescape")
    if text.isascii() or is_utf8(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def is_utf8(characters: str) -> bool:
    """Reports whether characters can be encoded, so that none is a surrogate."""
    try:
        characters.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_utf8_bytes(text: bytes) -> bool:
    """Reports whether bytes are valid UTF-8."""
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def text_of(characters: str, original: Text) -> Text:
    """Returns characters as a text of the type of the original text."""
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
