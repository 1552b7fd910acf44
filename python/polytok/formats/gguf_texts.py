"""Columns of texts in a GGUF file, and the escapes in the texts of RWKV vocabularies."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

from ..columns import column_of
from ..errors import FormatError
from .gguf_file import Texts

_BYTE_OF_ESCAPE = {b"t": b"\t", b"n": b"\n", b"r": b"\r"}


def text_list(texts: Texts) -> list[bytes]:
    """Returns a column of texts as a list."""
    blob, offsets = texts[0], texts[1].tolist()
    return [blob[start:end] for start, end in pairwise(offsets)]


def join_texts(texts: Sequence[bytes]) -> Texts:
    """Concatenates texts to a column: one blob, and the offsets of the texts in it."""
    return b"".join(texts), column_of("I", accumulate(map(len, texts), initial=0))


def escape(text: bytes) -> bytes:
    r"""Escapes a text as in RWKV's GGUF files: as a Python literal, without the quotes."""
    return repr(text)[2:-1].encode()


def unescape(text: bytes) -> bytes:
    r"""Returns the bytes of an escaped text.

    As in llama.cpp, only ``\t``, ``\n``, ``\r`` and ``\xHH`` are special; before any other character, the backslash is
    removed.
    """
    text_before, *parts = text.split(b"\\")
    out, is_literal = bytearray(text_before), False
    for part in parts:
        if is_literal:
            out += part
            is_literal = False
        elif not part:
            out += b"\\"
            is_literal = True
        elif part[:1] == b"x":
            out += _hex_byte(part, text) + part[3:]
        else:
            out += _BYTE_OF_ESCAPE.get(part[:1], part[:1]) + part[1:]
    return bytes(out)


def _hex_byte(part: bytes, text: bytes) -> bytes:
    try:
        return bytes.fromhex(part[1:3].decode("ascii")) if len(part) >= 3 else bytes.fromhex("x")
    except ValueError:
        raise FormatError(f"the token {text[:40]!r} has an escape without two hexadecimal digits") from None
