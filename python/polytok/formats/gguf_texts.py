"""Columns of texts of a GGUF file, and RWKV's way to write bytes in them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ..errors import FormatError
from .gguf_file import Texts

_CODES = {b"t": b"\t", b"n": b"\n", b"r": b"\r"}


def cut(texts: Texts) -> list[bytes]:
    """Texts one by one."""
    blob, ends = texts[0], texts[1].tolist()
    return [blob[start:end] for start, end in pairwise(ends)]


def joined(words: Sequence[bytes]) -> Texts:
    """Texts in one blob."""
    ends = np.cumsum([0, *map(len, words)], dtype=np.uint64)
    return b"".join(words), ends.astype(np.uint32)


def escaped(text: bytes) -> bytes:
    r"""A text as RWKV's GGUF files have it: Python's literal without its quotes."""
    return repr(text)[2:-1].encode()


def unescaped(text: bytes) -> bytes:
    r"""The other way, as llama.cpp does it: any character behind ``\`` but ``t``, ``n``, ``r`` and ``x`` is itself."""
    first, *rest = text.split(b"\\")
    out, is_literal = bytearray(first), False
    for part in rest:
        if is_literal:
            out += part
            is_literal = False
        elif not part:
            out += b"\\"
            is_literal = True
        elif part[:1] == b"x":
            out += _byte(part, text) + part[3:]
        else:
            out += _CODES.get(part[:1], part[:1]) + part[1:]
    return bytes(out)


def _byte(part: bytes, text: bytes) -> bytes:
    try:
        return bytes.fromhex(part[1:3].decode("ascii")) if len(part) >= 3 else bytes.fromhex("x")
    except ValueError:
        raise FormatError(f"the token {text[:40]!r} has an escape without two hexadecimal digits") from None
