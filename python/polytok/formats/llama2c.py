"""llama2.c's ``tokenizer.bin``: the longest length, then a score and a text for each token.

What the tokens are and how text is encoded is fixed by llama2.c's code: 0 is unknown, 1 and 2 are BOS and EOS, byte b
is b + 3.
"""

from __future__ import annotations

from .. import _core
from ..errors import FormatError
from ..spec import Bpe, Llama2cDecode, Origin, PrefixSpace, Spec, Template, Vocab, described
from .base import ReadOptions, Written, require_ids_in_row_order, written

name = "llama2c"
options: frozenset[str] = frozenset()

_MODEL = Bpe("score", symbols="groups")
_NAMES = {"unk": 0, "bos": 1, "eos": 2}
_FIRST_ORDINARY = 3 + 256


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
    """Write a tokenizer.bin."""
    require_ids_in_row_order(spec.vocab, name)
    if spec.model != _MODEL:
        raise FormatError(f"llama2.c merges by score; it cannot run this model: {described(spec.model)}")
    data = _core.llama2c_write(spec.vocab)
    return written(spec, data, read(data, ReadOptions()))
