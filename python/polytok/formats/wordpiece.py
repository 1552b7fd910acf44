"""BERT's ``vocab.txt``: one token per line; the id is the number of the line, counted from 0.

``tokenizer_config.json`` in the same folder has the options, such as lower-casing. The Spec is the same as for a
tokenizer.json, and is written as a tokenizer.json unless the caller asks for vocab.txt.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..errors import FormatError
from ..records import replace
from ..spec import BertNormalize, Spec, WordPiece, described
from .base import ReadOptions, Written, require_ids_in_row_order, with_losses

name = "wordpiece"
options: frozenset[str] = frozenset()

# The literal text comes first in the expression, so that the search for it is fast.
_UNKNOWN_TOKEN_LINE = re.compile(rb"\[UNK\](?<=^\[UNK\])\r?$", re.MULTILINE)


def refusal(data: bytes) -> str | None:
    """Accepts a file in which one line is BERT's unknown token."""
    is_text = data[:1] != b"{" and b"\0" not in data[:4000]
    # Rank files have no bracket, which is found missing many times faster than a longer text.
    has_unknown = is_text and b"[" in data and b"[UNK]" in data and _UNKNOWN_TOKEN_LINE.search(data)
    return None if has_unknown else "no line is [UNK]"


def read(data: bytes, options: ReadOptions) -> Spec:
    """Reads a vocabulary, with the options of tokenizer_config.json, or BERT's own (lower case) without that file."""
    spec = _read_lines(data, options.siblings)
    return replace(spec, origin=replace(spec.origin, name=options.name))


def _read_lines(data: bytes, siblings: Mapping[str, bytes]) -> Spec:
    from .huggingface import legacy  # importing this takes longer than detecting the format of a file

    return legacy.read_vocab_txt(data, siblings)


def write(spec: Spec) -> Written:
    """Writes the vocabulary, and options that differ from BERT's own in tokenizer_config.json."""
    if not isinstance(spec.model, WordPiece) or spec.model.phantom_space:
        raise FormatError(f"a vocab.txt has a WordPiece model, which this is not: {described(spec.model)}")
    require_ids_in_row_order(spec.vocab, name)
    data = b"".join(piece + b"\n" for piece in spec.vocab.pieces())
    reread_spec, companions = _read_lines(data, {}), {}
    if (spec.names, spec.normalize) != (reread_spec.names, reread_spec.normalize):
        companions = _settings_files(spec)
        reread_spec = _read_lines(data, companions)
    return with_losses(
        replace(spec, extra={}), data, replace(reread_spec, extra={}), companions=companions, hints=_HINTS
    )


def _settings_files(spec: Spec) -> dict[str, bytes]:
    from .huggingface import config_write

    normalizer = next((step for step in spec.normalize if isinstance(step, BertNormalize)), BertNormalize())
    return config_write.bert_files(spec, normalizer)


_HINTS = {
    "special": "a vocab.txt contains no added tokens",
}
