"""tiktoken's rank files (``.tiktoken``, Llama 3's and 4's ``tokenizer.model``): lines ``base64 rank``.

The pattern and the special tokens stand in programs, not in the file. They are taken from the caller, or from the table
of files that are known by their sha256 (tiktoken_known.py); a file for which neither has them is not read.
"""

from __future__ import annotations

import re
from hashlib import sha256

from .. import _core
from ..errors import ArgumentError, FormatError
from ..spec import Bpe, Origin, PatternSplit, Spec, Template, Vocab
from .base import ReadOptions, Written, special_tokens_of, written
from .tiktoken_known import KNOWN, Known

name = "tiktoken"
options = frozenset({"pattern", "special_tokens"})

_MODEL = Bpe("rank", whole_piece_first=True)
_FIRST_LINE = re.compile(rb"[\r\n]*[A-Za-z0-9+/]+={0,2}[ \t]+[0-9]{1,10}[ \t]*(?:[\r\n]|\Z)")


def refusal(data: bytes) -> str | None:
    """The first line is base64 and a number."""
    return None if _FIRST_LINE.match(data) else "the first line is not base64 and a rank"


def read(data: bytes, options: ReadOptions) -> Spec:
    """Read a rank file."""
    vocab = Vocab(*_core.rank_file_read(data))
    if not len(vocab):
        raise FormatError("no tokens")
    known = _known(data, options.name)
    if known is None and (options.pattern is None or options.special_tokens is None):
        raise FormatError(
            f"the file (sha256 {sha256(data).hexdigest()}) is not one of the known ones, and its pattern and special "
            "tokens do not stand in it; give both: pattern=r'...', special_tokens={'<|endoftext|>': 50256} "
            "(pattern='' does not split, special_tokens={} has none)"
        )
    return _spec(vocab, options, known)


def write(spec: Spec) -> Written:
    """Write a rank file, line by line in row order."""
    if spec.model != _MODEL:
        raise FormatError(f"tiktoken merges bytes by rank; it cannot run this model: {spec.model!r:.100}")
    data = _core.rank_file_write(spec.vocab)
    read_back = _spec(Vocab(*_core.rank_file_read(data)), ReadOptions(), _known(data, None))
    return written(spec, data, read_back, hints=_HINTS)


_HINTS = {
    "split": "a rank file does not hold its pattern: give pattern= when it is read",
    "special": "a rank file does not hold special tokens: give special_tokens= when it is read",
}


def _known(data: bytes, wanted: str | None) -> Known | None:
    """The known vocabulary of this file: the one that is wanted by name, or the first."""
    digest = sha256(data).hexdigest()
    rows = [known for known in KNOWN if known.sha256 == digest]
    if wanted is None or wanted not in {known.name for known in KNOWN}:
        if wanted is not None and rows:
            names = " or ".join(repr(known.name) for known in rows)
            raise ArgumentError(f"name is {wanted!r}, but this is the file of {names}")
        return rows[0] if rows else None
    for known in rows:
        if known.name == wanted:
            return known
    raise ArgumentError(f"name is {wanted!r}, but this is not the file of that vocabulary (sha256 {digest})")


def _spec(vocab: Vocab, options: ReadOptions, known: Known | None) -> Spec:
    """The caller's pattern and special tokens before the known ones."""
    pattern, special = options.pattern, options.special_tokens
    if known is not None:
        pattern = known.pattern if pattern is None else pattern
        special = known.special_tokens if special is None else special
    special = special or {}
    roles = known.names if known else {"eos": "<|endoftext|>"}
    names = {role: special[text] for role, text in roles.items() if text in special}
    as_known = known is not None and (known.pattern, known.special_tokens) == (pattern, special)
    return Spec(
        vocab=vocab,
        model=_MODEL,
        special=special_tokens_of(special),
        split=(PatternSplit(pattern),) if pattern else (),
        post=Template.around(before=(names["bos"],) if "bos" in names else ()),
        names=names,
        origin=Origin(name, known.name if known and as_known else options.name),
    )
