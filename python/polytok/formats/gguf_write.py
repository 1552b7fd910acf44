"""A Spec as a GGUF file: what of it is made anew, and what is kept of the file that it came from.

The file that was read, with its columns made of the Spec, is tried first. Where reading it does not give the Spec back,
the Spec was changed, and all keys that say what it is are made anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from .. import _core
from ..errors import FormatError
from ..spec import (
    Bpe,
    Kind,
    LlamaCppDecode,
    Lowercase,
    Spec,
    UgmNormalize,
    WpmNormalize,
)
from . import gguf_pretokenizers
from .base import ReadOptions, Written, require_ids_in_row_order, written
from .gguf_file import BOOL, F32, I32, STRING, U8, U32, File, Texts, Value
from .gguf_file import write as write_file
from .gguf_texts import cut, escaped, joined

KEY = "tokenizer.ggml."
FAMILIES = {"llama": "spm", "bert": "wpm", "t5": "ugm", "rwkv": "rwkv", "plamo2": "plamo2"}
FAMILIES |= dict.fromkeys(("gpt2", "gemma4", "whitespace"), "bpe")
ROLES = {"bos": "bos", "eos": "eos", "unk": "unknown", "pad": "padding", "sep": "seperator", "mask": "mask"}
"""Names of ids in a Spec, and in the keys of a file."""
_COLUMNS = ("tokens", "scores", "token_type", "merges")
_FLAGS = ("add_bos_token", "add_eos_token", "add_sep_token", "add_space_prefix", "remove_extra_whitespaces")
_OTHERS = ("model", "pre", "precompiled_charsmap", "normalizer.lowercase", "normalizer.strip_accents")
_MADE = frozenset(KEY + key for key in (*_COLUMNS, *_FLAGS, *_OTHERS, *(f"{role}_token_id" for role in ROLES.values())))
"""The keys that a Spec's fields say."""

Read = Callable[[bytes, ReadOptions], Spec]


def rewritten(spec: Spec, read: Read) -> Written:
    """The file that a Spec came from, changed where the Spec is; or a new one."""
    if not isinstance(spec.decode, LlamaCppDecode):
        raise FormatError(f"llama.cpp cannot decode as this tokenizer does: {spec.decode!r:.100}")
    require_ids_in_row_order(spec.vocab, "gguf")
    extra: Mapping[str, Any] = spec.extra.get("gguf", {})
    options = ReadOptions(pre_tokenizer=extra.get("pre_tokenizer"), name=spec.origin.name)
    base = File({}, extra.get("version", 3), extra.get("big_endian", False))
    kept: Mapping[str, Value] = extra.get("keys", {})
    if kept:
        made = columns(spec, base)
        values = {key: made[key] if value[3] is None and key in made else value for key, value in kept.items()}
        data = write_file(replace(base, values=values))
        again = _read_back(data, options, read)
        if again is not None and replace(again, origin=spec.origin, extra=spec.extra) == spec:
            return written(spec, data, again)
    values = _merged(kept, fresh(spec, base, kept))
    data = write_file(replace(base, values=values))
    again = read(data, replace(options, pre_tokenizer=None))
    return written(replace(spec, extra={**spec.extra, "gguf": again.extra["gguf"]}), data, again)


def _read_back(data: bytes, options: ReadOptions, read: Read) -> Spec | None:
    try:
        return read(data, options)
    except FormatError:
        return None


def _merged(kept: Mapping[str, Value], made: Mapping[str, Value]) -> dict[str, Value]:
    """The kept keys in their order with the new values, then the new keys."""
    values = {key: made.get(key, value) for key, value in kept.items() if key in made or key not in _MADE}
    return {**values, **made}


def columns(spec: Spec, file: File) -> dict[str, Value]:
    """The arrays that a vocabulary's columns and the merges say."""
    texts = _texts(spec)
    made = {
        f"{KEY}tokens": file.text_array(texts),
        f"{KEY}scores": file.array(F32, spec.vocab.scores),
        f"{KEY}token_type": file.array(I32, _types(spec)),
    }
    if isinstance(spec.model, Bpe) and spec.model.merges is not None:
        made[f"{KEY}merges"] = file.text_array(_core.gguf_merge_lines(texts, spec.model.merges))
    return made


def _texts(spec: Spec) -> Texts:
    texts = spec.vocab.blob, spec.vocab.offsets
    if isinstance(spec.model, Bpe) and spec.model.symbols == "bytes":
        return _core.gguf_byte_level_texts(texts, spec.vocab.kinds == Kind.NORMAL)
    if _family(spec) == "rwkv":
        return joined([escaped(word) for word in cut(texts)])
    return texts


def _types(spec: Spec) -> Any:
    types = spec.vocab.kinds.astype(np.int32)
    for token in spec.special:
        if token.id < len(types) and types[token.id] != Kind.UNKNOWN:
            types[token.id] = Kind.CONTROL if token.special else Kind.USER_DEFINED
    return types


def _family(spec: Spec) -> str:
    return spec.decode.family if isinstance(spec.decode, LlamaCppDecode) else ""


def fresh(spec: Spec, file: File, kept: Mapping[str, Value]) -> dict[str, Value]:
    """All keys that a Spec's fields say."""
    model = _model(spec)
    made = {
        "general.architecture": kept.get("general.architecture", file.scalar(STRING, "llama")),
        f"{KEY}model": file.scalar(STRING, model),
    }
    if model in ("gpt2", "whitespace"):
        made[f"{KEY}pre"] = file.scalar(STRING, _pre_tokenizer(spec, kept))
    made |= columns(spec, file)
    for role, key in ROLES.items():
        if role in spec.names:
            made[f"{KEY}{key}_token_id"] = file.scalar(U32, spec.names[role])
    for key, flag in _flags(spec).items():
        made[KEY + key] = file.scalar(BOOL, flag)
    for step in spec.normalize:
        if isinstance(step, UgmNormalize) and step.charsmap:
            made[f"{KEY}precompiled_charsmap"] = file.array(U8, np.frombuffer(step.charsmap, np.uint8))
    return made


def _model(spec: Spec) -> str:
    family = _family(spec)
    if family != "bpe":
        return next(model for model, known in FAMILIES.items() if known == family)
    if isinstance(spec.model, Bpe) and spec.model.symbols == "scalars" and spec.split[:1] == _WHITESPACE:
        return "whitespace"
    return "gpt2"


_WHITESPACE = gguf_pretokenizers.steps(gguf_pretokenizers.PRE_TOKENIZERS["whitespace"])


def _pre_tokenizer(spec: Spec, kept: Mapping[str, Value]) -> str:
    """The name of the pre-tokenizer that does what the Spec says: the file's own, or else the likest."""
    assert isinstance(spec.model, Bpe) and isinstance(spec.decode, LlamaCppDecode)
    wanted = spec.decode.clean_spaces, spec.model.whole_piece_first, bool(spec.post.before)
    said = (kept.get(f"{KEY}pre") or (0, 0, 0, b""))[3]
    likeness: dict[str, tuple[bool, ...]] = {}
    for name, known in gguf_pretokenizers.PRE_TOKENIZERS.items():
        is_raw = spec.model.symbols == "scalars"
        if (known.raw, known.escaped) == (is_raw, spec.decode.escaped_spaces) and _same_split(known, spec):
            flags = known.clean_spaces, known.ignore_merges or known.newline_tokens, known.add_bos
            matches = tuple(flag == want for flag, want in zip(flags, wanted, strict=True))
            likeness[name] = (matches[1], matches[0], name.encode() == said, matches[2])
    if not likeness:
        raise FormatError("llama.cpp has no pre-tokenizer that cuts text as this tokenizer does")
    return max(likeness, key=likeness.__getitem__)


def _same_split(known: gguf_pretokenizers.PreTokenizer, spec: Spec) -> bool:
    return gguf_pretokenizers.steps(known) == spec.split


def _flags(spec: Spec) -> dict[str, bool]:
    assert isinstance(spec.decode, LlamaCppDecode)
    flags = {"add_space_prefix": spec.decode.strip_space}
    family = spec.decode.family
    if family in ("spm", "bpe", "ugm"):
        flags |= {"add_bos_token": bool(spec.post.before), "add_eos_token": bool(spec.post.after)}
    for step in spec.normalize:
        if isinstance(step, UgmNormalize):
            flags["remove_extra_whitespaces"] = step.remove_extra_whitespaces
        if isinstance(step, WpmNormalize):
            flags |= {"normalizer.lowercase": step.lowercase, "normalizer.strip_accents": step.strip_accents}
        if isinstance(step, Lowercase):
            flags["normalizer.lowercase"] = True
    return flags
