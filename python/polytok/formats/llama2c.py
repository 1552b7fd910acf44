"""llama2.c's ``tokenizer.bin``: the length of the longest token, then a score and a text for each token.

llama2.c's code determines the rest: id 0 is unknown, ids 1 and 2 are BOS and EOS, and id b + 3 is byte b.
"""

from __future__ import annotations

from .. import _core
from ..errors import FormatError
from ..spec import Bpe, Llama2cDecode, Origin, PrefixSpace, Spec, Template, Vocab, described
from .base import ReadOptions, Written, require_ids_in_row_order, with_losses

name = "llama2c"
options: frozenset[str] = frozenset()

_MODEL = Bpe("score", symbols="groups")
_NAMES = {"unk": 0, "bos": 1, "eos": 2}
_FIRST_ORDINARY_ID = 3 + 256


def refusal(data: bytes) -> str | None:
    """Accepts a file of whole records if the length in its header is the length of the longest token."""
    try:
        columns = _core.llama2c_read(data)
    except FormatError as error:
        return str(error)
    return None if len(columns[2]) else "the file has no tokens"


def read(data: bytes, options: ReadOptions) -> Spec:
    """Reads a tokenizer.bin."""
    vocab = Vocab(*_core.llama2c_read(data))
    if len(vocab) < _FIRST_ORDINARY_ID:
        raise FormatError(
            f"the file has {len(vocab)} tokens, but llama2.c needs at least {_FIRST_ORDINARY_ID}: unknown, BOS, EOS "
            "and the 256 bytes"
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
    """Writes a tokenizer.bin."""
    require_ids_in_row_order(spec.vocab, name)
    if spec.model != _MODEL:
        raise FormatError(f"llama2.c merges by score; it cannot run this model: {described(spec.model)}")
    data = _core.llama2c_write(spec.vocab)
    return with_losses(spec, data, read(data, ReadOptions()))
