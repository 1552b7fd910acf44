"""RWKV World's vocabulary file: lines ``id literal length`` with Python literals.

The file does not contain id 0. By convention, id 0 is ``<|endoftext|>``, which separates documents. So
``<|endoftext|>`` is the Spec's only special token and its ``eos``, unless the file uses id 0 or the caller passes
special tokens.
"""

from __future__ import annotations

import re

from .. import _core
from ..columns import buffer
from ..errors import FormatError
from ..spec import Longest, Origin, Spec, SpecialToken, Vocab, described
from .base import ReadOptions, Written, special_tokens_of, with_ids, with_losses

name = "rwkv"
options = frozenset({"special_tokens"})

_END_OF_TEXT = SpecialToken("<|endoftext|>", 0)
_FIRST_LINE = re.compile(rb"\d{1,10} b?(?P<quote>['\"])[^\r\n]*(?P=quote) \d{1,10}(?:[\r\n]|\Z)", re.IGNORECASE)


def refusal(data: bytes) -> str | None:
    """Accepts a file whose first line is a number, a Python literal and a number."""
    return None if _FIRST_LINE.match(data) else "the first line is not `id literal length`"


def read(data: bytes, options: ReadOptions) -> Spec:
    """Reads a vocabulary."""
    vocab = Vocab(*_core.rwkv_read(data))
    if not len(vocab):
        raise FormatError("the file has no tokens")
    special = special_tokens_of(with_ids(options.special_tokens or {}, vocab))
    if options.special_tokens is None and _END_OF_TEXT.id not in buffer(vocab, "ids").tolist():
        special = (_END_OF_TEXT,)
    return Spec(
        vocab=vocab,
        model=Longest(),
        special=special,
        names={"eos": _END_OF_TEXT.id} if _END_OF_TEXT in special else {},
        origin=Origin(name, options.name),
    )


def write(spec: Spec) -> Written:
    """Writes a vocabulary.

    The literals use only the syntax of RWKV's own file, because some readers support no other syntax: a str if the
    bytes are UTF-8 and Python's repr has no escape of eight digits, else bytes with every byte escaped.
    """
    if spec.model != Longest():
        raise FormatError(f"RWKV takes the longest token that fits; it cannot run this model: {described(spec.model)}")
    rows = zip(spec.vocab.ids.tolist(), spec.vocab.pieces(), strict=True)
    data = "".join(f"{number} {_python_literal(piece)} {len(piece)}\n" for number, piece in rows).encode()
    return with_losses(spec, data, read(data, ReadOptions()))


def _python_literal(piece: bytes) -> str:
    try:
        literal = repr(piece.decode())
    except UnicodeDecodeError:
        literal = ""
    if not literal or "\\U" in literal:
        return "b'" + "".join(f"\\x{byte:02x}" for byte in piece) + "'"
    return literal
