"""Writes a Spec as a GGUF file. If the Spec was read from a GGUF file, the keys of that file that still apply are kept.

First, a file is built from the keys of the original file and the columns of the Spec. If reading this file does not
return an equal Spec, the Spec was changed after it was read; then all keys that depend on the Spec are written anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .. import _core
from ..columns import buffer
from ..errors import FormatError
from ..records import replace
from ..spec import (
    Bpe,
    Kind,
    LlamaCppDecode,
    Lowercase,
    Spec,
    UgmNormalize,
    WpmNormalize,
    merges_bytes,
)
from . import gguf_pretokenizers
from .base import ReadOptions, Written, require_ids_in_row_order, with_losses
from .gguf_file import BOOL, F32, I32, STRING, U8, U32, GgufFile, Texts, Value
from .gguf_file import write as write_file
from .gguf_texts import escape, join_texts, text_list

KEY = "tokenizer.ggml."
FAMILIES = {"llama": "spm", "bert": "wpm", "t5": "ugm", "rwkv": "rwkv", "plamo2": "plamo2"}
FAMILIES |= dict.fromkeys(("gpt2", "gemma4", "whitespace"), "bpe")
KEY_OF_ROLE = {"bos": "bos", "eos": "eos", "unk": "unknown", "pad": "padding", "sep": "seperator", "mask": "mask"}
"""The role of a special id in a Spec, and the role's name in the keys of a file."""
IS_NORMAL = bytes(kind == Kind.NORMAL for kind in range(256))
"""A table for `bytes.translate`, which converts kinds to flags."""
_COLUMN_KEYS = ("tokens", "scores", "token_type", "merges")
_FLAG_KEYS = ("add_bos_token", "add_eos_token", "add_sep_token", "add_space_prefix", "remove_extra_whitespaces")
_OTHER_KEYS = ("model", "pre", "precompiled_charsmap", "normalizer.lowercase", "normalizer.strip_accents")
_DERIVED_KEYS = frozenset(
    KEY + key
    for key in (*_COLUMN_KEYS, *_FLAG_KEYS, *_OTHER_KEYS, *(f"{role}_token_id" for role in KEY_OF_ROLE.values()))
)
"""The keys whose values depend on the fields of a Spec."""

ReadFunction = Callable[[bytes, ReadOptions], Spec]


def rewrite(spec: Spec, read: ReadFunction) -> Written:
    """Writes a copy of the file that a Spec was read from, with the changes of the Spec; without a file, a new one."""
    if not isinstance(spec.decode, LlamaCppDecode):
        raise FormatError(f"llama.cpp has no decoder like this tokenizer's: {spec.decode!r:.100}")
    require_ids_in_row_order(spec.vocab, "gguf")
    extra: Mapping[str, Any] = spec.extra.get("gguf", {})
    options = ReadOptions(pre_tokenizer=extra.get("pre_tokenizer"), name=spec.origin.name)
    empty_file = GgufFile({}, extra.get("version", 3), extra.get("big_endian", False))
    kept_values: Mapping[str, Value] = extra.get("keys", {})
    if kept_values:
        derived_values = column_values(spec, empty_file)
        values = {
            key: derived_values[key] if value[3] is None and key in derived_values else value
            for key, value in kept_values.items()
        }
        data = write_file(replace(empty_file, values=values))
        reread_spec = _read_back(data, options, read)
        if reread_spec is not None and replace(reread_spec, origin=spec.origin, extra=spec.extra) == spec:
            return with_losses(spec, data, reread_spec)
    values = _merge_values(kept_values, values_from_spec(spec, empty_file, kept_values))
    data = write_file(replace(empty_file, values=values))
    reread_spec = read(data, replace(options, pre_tokenizer=None))
    return with_losses(replace(spec, extra={**spec.extra, "gguf": reread_spec.extra["gguf"]}), data, reread_spec)


def _read_back(data: bytes, options: ReadOptions, read: ReadFunction) -> Spec | None:
    try:
        return read(data, options)
    except FormatError:
        return None


def _merge_values(kept_values: Mapping[str, Value], derived_values: Mapping[str, Value]) -> dict[str, Value]:
    """Returns the kept keys in their order, with their new values if they have any, followed by the new keys."""
    values = {
        key: derived_values.get(key, value)
        for key, value in kept_values.items()
        if key in derived_values or key not in _DERIVED_KEYS
    }
    return {**values, **derived_values}


def column_values(spec: Spec, file: GgufFile) -> dict[str, Value]:
    """Returns the values of the keys that contain the vocabulary's columns and the merges."""
    texts = _texts_in_file(spec)
    derived_values = {
        f"{KEY}tokens": file.text_array(texts),
        f"{KEY}scores": file.array(F32, buffer(spec.vocab, "scores")),
        f"{KEY}token_type": file.array(I32, _token_types(spec)),
    }
    if isinstance(spec.model, Bpe) and spec.model.priority == "merges":
        derived_values[f"{KEY}merges"] = file.text_array(_core.gguf_merge_lines(texts, buffer(spec.model, "merges")))
    return derived_values


def _texts_in_file(spec: Spec) -> Texts:
    texts = spec.vocab.blob, buffer(spec.vocab, "offsets")
    if merges_bytes(spec.model):
        return _core.gguf_byte_level_texts(texts, bytes(buffer(spec.vocab, "kinds")).translate(IS_NORMAL))
    if _family_of(spec) == "rwkv":
        return join_texts([escape(text) for text in text_list(texts)])
    return texts


def _token_types(spec: Spec) -> list[int]:
    token_types: list[int] = buffer(spec.vocab, "kinds").tolist()
    for token in spec.special:
        if token.id < len(token_types) and token_types[token.id] != Kind.UNKNOWN:
            token_types[token.id] = Kind.CONTROL if token.special else Kind.USER_DEFINED
    return token_types


def _family_of(spec: Spec) -> str:
    return spec.decode.family if isinstance(spec.decode, LlamaCppDecode) else ""


def values_from_spec(spec: Spec, file: GgufFile, kept_values: Mapping[str, Value]) -> dict[str, Value]:
    """Returns the values of all keys that depend on the Spec."""
    model = _model_name(spec)
    derived_values = {
        "general.architecture": kept_values.get("general.architecture", file.scalar(STRING, "llama")),
        f"{KEY}model": file.scalar(STRING, model),
    }
    if model in ("gpt2", "whitespace"):
        derived_values[f"{KEY}pre"] = file.scalar(STRING, _most_similar_pre_tokenizer(spec, kept_values))
    derived_values |= column_values(spec, file)
    ids_by_role = _ids_by_role(spec)
    for role, key in KEY_OF_ROLE.items():
        if role in ids_by_role:
            derived_values[f"{KEY}{key}_token_id"] = file.scalar(U32, ids_by_role[role])
    for key, flag in _flag_values(spec).items():
        derived_values[KEY + key] = file.scalar(BOOL, flag)
    for step in spec.normalize:
        if isinstance(step, UgmNormalize) and step.charsmap:
            derived_values[f"{KEY}precompiled_charsmap"] = file.array(U8, step.charsmap)
    return derived_values


def _ids_by_role(spec: Spec) -> dict[str, int]:
    """Returns the ids of the Spec's roles. For WordPiece, bos and sep are the tokens of the template: without these
    keys, llama.cpp adds the tokens 101 and 102."""
    if _family_of(spec) != "wpm":
        return dict(spec.names)
    ids_around_text = (("bos", spec.post.before), ("sep", spec.post.after))
    return {**spec.names, **{role: ids[0] for role, ids in ids_around_text if ids}}


def _model_name(spec: Spec) -> str:
    family = _family_of(spec)
    if family != "bpe":
        return next(model for model, model_family in FAMILIES.items() if model_family == family)
    if isinstance(spec.model, Bpe) and spec.model.symbols == "scalars" and spec.split[:1] == _WHITESPACE_STEPS:
        return "whitespace"
    return "gpt2"


_WHITESPACE_STEPS = gguf_pretokenizers.steps(gguf_pretokenizers.PRE_TOKENIZERS["whitespace"])


def _most_similar_pre_tokenizer(spec: Spec, kept_values: Mapping[str, Value]) -> str:
    """Returns the name of a pre-tokenizer that splits like the Spec. If several do, flags and the name in the file
    decide."""
    assert isinstance(spec.model, Bpe) and isinstance(spec.decode, LlamaCppDecode)
    spec_flags = spec.decode.clean_spaces, spec.model.whole_piece_first, bool(spec.post.before)
    name_in_file = (kept_values.get(f"{KEY}pre") or (0, 0, 0, b""))[3]
    similarity_of_name: dict[str, tuple[bool, ...]] = {}
    for name, pre_tokenizer in gguf_pretokenizers.PRE_TOKENIZERS.items():
        is_raw = spec.model.symbols == "scalars"
        if (pre_tokenizer.raw, pre_tokenizer.escaped) == (is_raw, spec.decode.escaped_spaces) and _splits_like(
            pre_tokenizer, spec
        ):
            flags = (
                pre_tokenizer.clean_spaces,
                pre_tokenizer.ignore_merges or pre_tokenizer.newline_tokens,
                pre_tokenizer.add_bos,
            )
            matches = tuple(flag == spec_flag for flag, spec_flag in zip(flags, spec_flags, strict=True))
            similarity_of_name[name] = (matches[1], matches[0], name.encode() == name_in_file, matches[2])
    if not similarity_of_name:
        raise FormatError("llama.cpp has no pre-tokenizer that splits text like this tokenizer")
    return max(similarity_of_name, key=similarity_of_name.__getitem__)


def _splits_like(pre_tokenizer: gguf_pretokenizers.PreTokenizer, spec: Spec) -> bool:
    return gguf_pretokenizers.steps(pre_tokenizer) == spec.split


def _flag_values(spec: Spec) -> dict[str, bool]:
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
