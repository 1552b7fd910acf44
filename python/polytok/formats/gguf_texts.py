"""Columns of texts in a GGUF file, and the escapes of RWKV's texts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ..errors import FormatError
from .gguf_file import Texts

_CODES = {b"t": b"\t", b"n": b"\n", b"r": b"\r"}


def text_list(texts: Texts) -> list[bytes]:
    """Returns a column of texts as a list."""
    blob, ends = texts[0], texts[1].tolist()
    return [blob[start:end] for start, end in pairwise(ends)]


def join_texts(texts: Sequence[bytes]) -> Texts:
    """Returns texts as a column: one blob, with the offsets."""
    ends = np.cumsum([0, *map(len, texts)], dtype=np.uint64)
    return b"".join(texts), ends.astype(np.uint32)


def escape(text: bytes) -> bytes:
    r"""Returns a text as RWKV's GGUF files contain it: Python's literal without its quotes."""
    return repr(text)[2:-1].encode()


def unescape(text: bytes) -> bytes:
    r"""Returns the bytes of an escaped text.

    As in llama.cpp, only ``\t``, ``\n``, ``\r`` and ``\xHH`` have a meaning.
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
            out += _CODES.get(part[:1], part[:1]) + part[1:]
    return bytes(out)


def _hex_byte(part: bytes, text: bytes) -> bytes:
    try:
        return bytes.fromhex(part[1:3].decode("ascii")) if len(part) >= 3 else bytes.fromhex("x")
    except ValueError:
        raise FormatError(f"the token {text[:40]!r} has an escape without two hexadecimal digits") from None
