"""UTF-8: which bytes are UTF-8, and the bytes of texts whose surrogates UTF-8 cannot encode."""

from __future__ import annotations

from .values import Text


def is_utf8(data: bytes) -> bool:
    """Reports whether bytes are UTF-8.

    >>> is_utf8("é".encode()), is_utf8(b"\\xe9")
    (True, False)
    """
    return isinstance(text_or_bytes(data), str)


def text_or_bytes(data: bytes) -> str | bytes:
    """Returns UTF-8 as text, and other bytes as they are.

    >>> text_or_bytes("é".encode()), text_or_bytes(b"\\xe9")
    ('é', b'\\xe9')
    """
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


def has_surrogate(text: str) -> bool:
    """Reports whether a text has a surrogate, which UTF-8 cannot encode.

    >>> has_surrogate("a\\ud83d"), has_surrogate("é")
    (True, False)
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def repaired(text: str) -> str:
    """Returns a text without surrogates, as the engine encodes it: pairs are joined, and lone ones are replaced with
    U+FFFD.

    >>> repaired("\\ud83d\\ude00 \\ud83d")
    '😀 \\ufffd'
    """
    if not has_surrogate(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def bytes_with_surrogates(text: Text) -> bytes:
    """Returns a text as bytes. Surrogates stay, as three bytes that are not UTF-8.

    >>> bytes_with_surrogates("é\\ud83d"), bytes_with_surrogates(b"a")
    (b'\\xc3\\xa9\\xed\\xa0\\xbd', b'a')
    """
    return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else bytes(text)
