"""tiktoken's rank files (``.tiktoken``, Llama 3's and 4's ``tokenizer.model``): lines ``base64 rank``.

The pattern and the special tokens stand in programs, not in the file. They are taken from the caller, or from the table
of files that are known by their sha256 (tiktoken_known.py), or from what the configuration beside the file says
(tiktoken_families.py); a file for which nothing has them is not read.
"""

from __future__ import annotations

import re
from hashlib import sha256

from .. import _core
from ..errors import ArgumentError, FormatError
from ..spec import Bpe, Origin, PatternSplit, Spec, Template, Vocab, described
from .base import ReadOptions, Written, special_tokens_of, written
from .tiktoken_families import from_siblings
from .tiktoken_known import KNOWN, Known, Scheme

name = "tiktoken"
options = frozenset({"pattern", "special_tokens"})

_MODEL = Bpe("rank", whole_piece_first=True)
_FIRST_LINE = re.compile(rb"[\r\n]*(?:[A-Za-z0-9+/]+={0,2}|=)[ \t]+[0-9]{1,10}[ \t]*(?:[\r\n]|\Z)")


def refusal(data: bytes) -> str | None:
    """The first line is base64 and a number."""
    return None if _FIRST_LINE.match(data) else "the first line is not base64 and a rank"


def read(data: bytes, options: ReadOptions) -> Spec:
    """Read a rank file."""
    vocab = Vocab(*_core.rank_file_read(data))
    if not len(vocab):
        raise FormatError("no tokens")
    known = _known(data, options.name)
    scheme = known.scheme if known else None
    incomplete = options.pattern is None or options.special_tokens is None
    if scheme is None and incomplete:
        scheme = from_siblings(options.siblings, len(vocab))
    if scheme is None and incomplete:
        raise FormatError(
            f"the file (sha256 {sha256(data).hexdigest()}) is not one of the known ones, and its pattern and special "
            "tokens do not stand in it; give both: pattern=r'...', special_tokens={'<|endoftext|>': 50256} "
            "(pattern='' does not split, special_tokens={} has none); or, for Kimi and Qwen, load it from a folder "
            "that has its tokenizer_config.json too"
        )
    return spec_of(vocab, options, scheme, known.name if known else None)


def write(spec: Spec) -> Written:
    """Write a rank file, line by line in row order."""
    if spec.model != _MODEL:
        raise FormatError(f"tiktoken merges bytes by rank; it cannot run this model: {described(spec.model)}")
    data = _core.rank_file_write(spec.vocab)
    known = _known(data, None)
    scheme, called = (known.scheme, known.name) if known else (None, None)
    read_back = spec_of(Vocab(*_core.rank_file_read(data)), ReadOptions(), scheme, called)
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


def spec_of(vocab: Vocab, options: ReadOptions, scheme: Scheme | None, called: str | None) -> Spec:
    """A Spec of ranks: the caller's pattern and special tokens before the scheme's."""
    pattern, special = options.pattern, options.special_tokens
    if scheme is not None:
        pattern = scheme.pattern if pattern is None else pattern
        special = scheme.special_tokens if special is None else special
    special = special or {}
    roles = scheme.names if scheme else {"eos": "<|endoftext|>"}
    names = {role: special[text] for role, text in roles.items() if text in special}
    if called is None:
        called = options.name
    elif scheme is not None and (scheme.pattern, scheme.special_tokens) != (pattern, special):
        called = None
    adds_bos = "bos" in names and (scheme is None or scheme.adds_bos)
    return Spec(
        vocab=vocab,
        model=_MODEL,
        special=special_tokens_of(special),
        split=(PatternSplit(pattern),) if pattern else (),
        post=Template.around(before=(names["bos"],) if adds_bos else ()),
        names=names,
        origin=Origin(name, called),
    )
