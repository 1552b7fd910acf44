"""tiktoken's rank files (``.tiktoken``, Llama 3's and 4's ``tokenizer.model``): lines ``base64 rank``.

A rank file does not contain its pattern and special tokens, which are part of the program that uses the file. They come
from the caller, from the table of files that are known by their sha256 (tiktoken_known.py), or from the configuration
in the same folder (tiktoken_families.py). If none of these sources has them, the file is refused.
"""

from __future__ import annotations

import re
from hashlib import sha256

from .. import _core
from ..errors import ArgumentError, FormatError
from ..keywords import keyword
from ..spec import Bpe, Origin, PatternSplit, Spec, Template, Vocab, described
from .base import Pattern, ReadOptions, Written, special_tokens_of, with_ids, with_losses
from .tiktoken_families import scheme_from_siblings
from .tiktoken_known import KNOWN, KnownFile, Scheme

name = "tiktoken"
options = frozenset({"pattern", "special_tokens"})

_MODEL = Bpe("rank", whole_piece_first=True)
_FIRST_LINE = re.compile(rb"[\r\n]*(?:[A-Za-z0-9+/]+={0,2}|=)[ \t]+[0-9]{1,10}[ \t]*(?:[\r\n]|\Z)")


def refusal(data: bytes) -> str | None:
    """Accepts a file whose first line is base64 and a number."""
    return None if _FIRST_LINE.match(data) else "the first line is not base64 and a rank"


def read(data: bytes, options: ReadOptions) -> Spec:
    """Reads a rank file."""
    vocab = Vocab(*_core.rank_file_read(data))
    if not len(vocab):
        raise FormatError("the file has no tokens")
    known_file = _find_known_file(data, options.name)
    scheme = known_file.scheme if known_file else None
    needs_scheme = options.pattern is None or options.special_tokens is None
    if scheme is None and needs_scheme:
        scheme = scheme_from_siblings(options.siblings, len(vocab))
    if scheme is None and needs_scheme:
        raise FormatError(
            f"the file (sha256 {sha256(data).hexdigest()}) is not known to polytok, and a rank file does not contain "
            f"its pattern and special tokens; give both: {keyword('pattern', '...')}, "
            f"{keyword('special_tokens', {'<|endoftext|>': 50256})} (the pattern is a name, such as 'gpt2', or a "
            f"regular expression; {keyword('pattern', '')} does not split, {keyword('special_tokens', {})} has none); "
            "or, for Kimi and Qwen, load it from a folder that contains its tokenizer_config.json too"
        )
    return spec_of(vocab, options, scheme, known_file.name if known_file else None)


def write(spec: Spec) -> Written:
    """Writes a rank file, line by line in row order."""
    if spec.model != _MODEL:
        raise FormatError(f"tiktoken merges bytes by rank; it cannot run this model: {described(spec.model)}")
    data = _core.rank_file_write(spec.vocab)
    known_file = _find_known_file(data, None)
    scheme, vocab_name = (known_file.scheme, known_file.name) if known_file else (None, None)
    reread_spec = spec_of(Vocab(*_core.rank_file_read(data)), ReadOptions(), scheme, vocab_name)
    return with_losses(spec, data, reread_spec, hints=_HINTS)


_HINTS = {
    "split": "a rank file does not contain its pattern: give pattern= to read it",
    "special": "a rank file does not contain special tokens: give special_tokens= to read it",
}


def _find_known_file(data: bytes, requested_name: str | None) -> KnownFile | None:
    """Finds the known vocabularies that have this file; returns the one named ``requested_name``, or else the first.

    Returns None if the file is unknown.
    """
    digest = sha256(data).hexdigest()
    files_of_digest = [known_file for known_file in KNOWN if known_file.sha256 == digest]
    if requested_name is None or requested_name not in {known_file.name for known_file in KNOWN}:
        if requested_name is not None and files_of_digest:
            names = " or ".join(repr(known_file.name) for known_file in files_of_digest)
            raise ArgumentError(f"name is {requested_name!r}, but this is the file of {names}")
        return files_of_digest[0] if files_of_digest else None
    for known_file in files_of_digest:
        if known_file.name == requested_name:
            return known_file
    raise ArgumentError(f"name is {requested_name!r}, but this is not the file of that vocabulary (sha256 {digest})")


def spec_of(vocab: Vocab, options: ReadOptions, scheme: Scheme | None, vocab_name: str | None) -> Spec:
    """Builds the Spec of a rank file. The caller's pattern and special tokens take precedence over the scheme's."""
    pattern, special = options.pattern, options.special_tokens
    if scheme is not None:
        pattern = scheme.pattern if pattern is None else pattern
        special = scheme.special_tokens if special is None else special
    special = with_ids(special or {}, vocab)
    roles = scheme.names if scheme else {"eos": "<|endoftext|>"}
    names = {role: special[text] for role, text in roles.items() if text in special}
    if vocab_name is None:
        vocab_name = options.name
    elif scheme is not None and (scheme.pattern, scheme.special_tokens) != (pattern, special):
        vocab_name = None
    adds_bos = "bos" in names and (scheme is None or scheme.adds_bos)
    return Spec(
        vocab=vocab,
        model=_MODEL,
        special=special_tokens_of(special),
        split=_split_steps(pattern),
        post=Template.around(before=(names["bos"],) if adds_bos else ()),
        names=names,
        origin=Origin(name, vocab_name),
    )


def _split_steps(pattern: Pattern | None) -> tuple[PatternSplit, ...]:
    if isinstance(pattern, str):
        return (PatternSplit(pattern),) if pattern else ()
    return pattern or ()
