"""BERT's ``vocab.txt``: one token per line, the id is the line's number from 0.

Whether text is lower-cased and so on stands in ``tokenizer_config.json`` beside it. What is read is a Spec as of a
tokenizer.json, and is written as one unless this format is asked for.
"""

from __future__ import annotations

import re
from dataclasses import replace

from ..errors import FormatError
from ..spec import Spec, WordPiece, described
from .base import ReadOptions, Written, require_ids_in_row_order, written
from .huggingface import legacy

name = "wordpiece"
options: frozenset[str] = frozenset()

# The text comes first, for which the search is quick.
_UNKNOWN = re.compile(rb"\[UNK\](?<=^\[UNK\])\r?$", re.MULTILINE)


def refusal(data: bytes) -> str | None:
    """One of the lines is BERT's unknown token."""
    is_text = data[:1] != b"{" and b"\0" not in data[:4000]
    return None if is_text and b"[UNK]" in data and _UNKNOWN.search(data) else "no line is [UNK]"


def read(data: bytes, options: ReadOptions) -> Spec:
    """Read a vocabulary, with the configuration beside it or BERT's own (lower case)."""
    spec = legacy.read_vocab_txt(data, options.siblings)
    return replace(spec, origin=replace(spec.origin, name=options.name))


def write(spec: Spec) -> Written:
    """Write the vocabulary; everything else is what BERT has, or a loss."""
    if not isinstance(spec.model, WordPiece) or spec.model.phantom_space:
        raise FormatError(f"a vocab.txt is of a WordPiece model, not of this: {described(spec.model)}")
    require_ids_in_row_order(spec.vocab, name)
    data = b"".join(piece + b"\n" for piece in spec.vocab.pieces())
    again = legacy.read_vocab_txt(data, {})
    return written(replace(spec, extra={}), data, replace(again, extra={}), hints=_HINTS)


_HINTS = {
    "normalize": "a vocab.txt says nothing of it: it stands in tokenizer_config.json",
    "special": "a vocab.txt holds no added tokens",
}
