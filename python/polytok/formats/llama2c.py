"""llama2.c's ``tokenizer.bin``: the longest length, then a score and a text for each token.

What the tokens are and how text is encoded is fixed by llama2.c's code: 0 is unknown, 1 and 2 are BOS and EOS, byte b
is b + 3. A SentencePiece BPE model that is laid out so can be written; that is the export of llama2.c's tokenizer.py.
"""

from __future__ import annotations

import numpy as np

from .. import _core
from ..errors import FormatError
from ..spec import Bpe, Kind, Llama2cDecode, Origin, PrefixSpace, Spec, Template, Vocab
from .base import ReadOptions, Written, require_ids_in_row_order, written

name = "llama2c"
options: frozenset[str] = frozenset()

_MODEL = Bpe("score", symbols="groups")
_NAMES = {"unk": 0, "bos": 1, "eos": 2}
_FIRST_ORDINARY = 3 + 256
_SPACE = "\u2581".encode()


def refusal(data: bytes) -> str | None:
    """Records to the end of the file, the longest as long as the header says."""
    try:
        columns = _core.llama2c_read(data)
    except FormatError as error:
        return str(error)
    return None if len(columns[2]) else "no tokens"


def read(data: bytes, options: ReadOptions) -> Spec:
    """Read a tokenizer.bin."""
    vocab = Vocab(*_core.llama2c_read(data))
    if len(vocab) < _FIRST_ORDINARY:
        raise FormatError(
            f"{len(vocab)} tokens, but llama2.c counts on {_FIRST_ORDINARY}: unknown, BOS, EOS and the 256 bytes"
        )
    return Spec(
        vocab=vocab,
        model=_MODEL,
        normalize=(PrefixSpace(),),
        unknown="bytes",
        post=Template.around(before=(_NAMES["bos"],)),
        decode=Llama2cDecode(),
        names=_NAMES,
        origin=Origin(name, options.name),
    )


def write(spec: Spec) -> Written:
    """Write a tokenizer.bin, also of a SentencePiece BPE model."""
    require_ids_in_row_order(spec.vocab, name)
    if spec.model == _MODEL:
        vocab = spec.vocab
    elif spec.model == Bpe("score", symbols="chars"):
        vocab = _exported(spec)
    else:
        raise FormatError(f"llama2.c merges by score; it cannot run this model: {spec.model!r:.100}")
    data = _core.llama2c_write(vocab)
    return written(spec, data, read(data, ReadOptions()))


def _exported(spec: Spec) -> Vocab:
    """A SentencePiece model's pieces as llama2.c has them: spaces are spaces, BOS and EOS stand between newlines."""
    _require_layout(spec)
    texts = [piece.replace(_SPACE, b" ") for piece in spec.vocab.pieces()]
    for control in (_NAMES["bos"], _NAMES["eos"]):
        texts[control] = b"\n" + (b"<s>" if control == _NAMES["bos"] else b"</s>") + b"\n"
    ends = np.cumsum([0, *map(len, texts)], dtype=np.uint64).astype(np.uint32)
    return Vocab(b"".join(texts), ends, spec.vocab.ids, spec.vocab.scores, spec.vocab.kinds)


def _require_layout(spec: Spec) -> None:
    kinds = spec.vocab.kinds[:_FIRST_ORDINARY]
    expected = [Kind.UNKNOWN, Kind.CONTROL, Kind.CONTROL, *[Kind.BYTE] * 256]
    if not np.array_equal(kinds, expected):
        row = next((row for row, kind in enumerate(expected) if row >= len(kinds) or kinds[row] != kind), 0)
        raise FormatError(f"llama2.c fixes the ids 0 to 258; id {row} would have to be of kind {expected[row].name}")
    if any(spec.vocab.piece(3 + byte) != b"<0x%02X>" % byte for byte in range(256)):
        raise FormatError("llama2.c fixes the ids 3 to 258 to be the bytes in order")
    if any(spec.names.get(role) != number for role, number in _NAMES.items()):
        raise FormatError(f"llama2.c fixes unk, bos and eos to be {dict(_NAMES)}, not {dict(spec.names)}")
