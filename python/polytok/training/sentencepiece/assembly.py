"""Combines trained and reserved pieces into a Spec, written as the ``.model`` that SentencePiece would write."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import ArgumentError
from ...spec import (
    Bpe,
    Char,
    Kind,
    Model,
    Origin,
    SentencePieceDecode,
    SentencePieceNormalize,
    Spec,
    Template,
    Unigram,
    Vocab,
    Word,
)
from .meta import Meta
from .options import SentencePieceOptions

_BPE = Bpe("score", symbols="chars")
_MODELS: dict[str, Model] = {"unigram": Unigram(), "bpe": _BPE, "word": Word(), "char": Char()}
# Fields with a place in a Spec; if given with SentencePiece's default, they are listed in "written_defaults".
_IN_SPEC = ("byte_fallback", "unk_surface", "treat_whitespace_as_suffix")
_DEFAULTS = {field.name: field.default for field in fields(SentencePieceOptions)}
_NORMALIZER_FLAGS = ("add_dummy_prefix", "remove_extra_whitespaces")
_NOT_IN_FILE = frozenset(
    {
        "profile",
        "line",
        "sentences",
        "self_test_sample_size",
        "tsv",
        "precompiled_charsmap",
        "normalization_rule_name",
        "normalization_rule_tsv",
        "denormalization_rule_tsv",
        *_IN_SPEC,
        *_NORMALIZER_FLAGS,
    }
)


def assembled(
    options: SentencePieceOptions,
    explicit: Collection[str],
    model: str,
    meta: Meta,
    pieces: Sequence[bytes],
    scores: npt.NDArray[np.float32],
    normalize: SentencePieceNormalize,
    denormalize: SentencePieceNormalize | None,
) -> Spec:
    """The Spec; ArgumentError if SentencePiece would find that pieces and ids do not match."""
    size = len(meta) + len(pieces) if options.use_all_vocab else options.vocab_size
    rows = _rows(meta, pieces, scores, size)
    _check_size(options, model, len(rows), size)
    names = _names(options, meta)
    return Spec(
        vocab=Vocab.from_rows((text, id, score, kind) for id, (text, score, kind) in enumerate(rows)),
        model=_MODELS[model],
        normalize=(normalize,),
        unknown="bytes" if options.byte_fallback else "unk",
        post=Template.around(before=(names["bos"],) if "bos" in names else ()),
        decode=SentencePieceDecode(
            options.add_dummy_prefix, options.remove_extra_whitespaces, options.unk_surface.encode(), denormalize
        ),
        line=options.line,
        names=names,
        origin=Origin("sentencepiece"),
        extra={"sentencepiece": _extra(options, explicit, model, len(rows))},
    )


def _rows(
    meta: Meta, pieces: Sequence[bytes], scores: npt.NDArray[np.float32], size: int
) -> list[tuple[bytes, float, Kind]]:
    """Reserved pieces at their ids, with the trained ones in order between them."""
    rows: list[tuple[bytes, float, Kind]] = []
    found = len(meta) + len(pieces)
    trained = iter(zip(pieces, scores.tolist(), strict=True))
    # No reserved piece can be beyond the last piece, however large the vocabulary is.
    for id in [*range(min(size, found)), *sorted(id for id in meta if found <= id < size)]:
        if id in meta:
            if len(rows) != id:
                raise ArgumentError(
                    f"{meta[id][0]!r} is to have the id {id}, but there are only {len(rows)} other pieces"
                )
            rows.append((meta[id][0].encode(), 0.0, meta[id][1]))
        elif (next_piece := next(trained, None)) is not None:
            rows.append((*next_piece, Kind.NORMAL))
    if next(trained, None) is not None or any(id >= size for id in meta):
        raise ArgumentError(f"vocab_size={size} is too small for what is reserved: {len(meta)} pieces")
    seen: set[bytes] = set()
    for text, _, _ in rows:
        if text in seen:
            raise ArgumentError(f"{text.decode()!r} is reserved and a trained piece, or reserved twice")
        seen.add(text)
    return rows


def _check_size(options: SentencePieceOptions, model: str, found: int, size: int) -> None:
    if options.hard_vocab_limit and model != "char" and found != size:
        raise ArgumentError(
            f"vocab_size={size} is too high: the text gives {found} pieces; lower it, give more text, or set "
            f"hard_vocab_limit=False"
        )


def _names(options: SentencePieceOptions, meta: Meta) -> dict[str, int]:
    kinds = {"unk": Kind.UNKNOWN, "bos": Kind.CONTROL, "eos": Kind.CONTROL, "pad": Kind.CONTROL}
    ids = {text: id for id, (text, _) in meta.items()}
    found = {role: ids.get(getattr(options, f"{role}_piece")) for role in kinds}
    return {role: id for role, id in found.items() if id is not None and meta[id][1] == kinds[role]}


def _extra(options: SentencePieceOptions, explicit: Collection[str], model: str, size: int) -> dict[str, Any]:
    """The fields of the file that have no place in a Spec, as SentencePiece's API would set them."""
    trainer: dict[str, Any] = {}
    for name in sorted(explicit):  # an order that is the same in every process
        value = getattr(options, name)
        if name not in _NOT_IN_FILE and value is not None:
            trainer[name] = _field(value)
    if options.tsv:
        trainer["input_format"] = b"tsv"
    if not options.hard_vocab_limit or model == "char" or options.use_all_vocab:
        trainer["vocab_size"] = size
    messages: dict[str, Any] = {"trainer_spec": trainer, "normalizer_spec": _normalizer(options)}
    if options.denormalization_rule_tsv is not None:
        path = os.fspath(options.denormalization_rule_tsv).encode()
        messages["denormalizer_spec"] = {"name": b"user_defined", "normalization_rule_tsv": path}
    written_defaults = tuple(_written_defaults(options, explicit, model))
    return {**messages, "written_defaults": written_defaults} if written_defaults else messages


def _written_defaults(options: SentencePieceOptions, explicit: Collection[str], model: str) -> Iterator[str]:
    """The fields with a place in the Spec that the file contains although they have their default."""
    if model == "unigram":
        yield "trainer_spec.model_type"
    for name in _IN_SPEC:
        if name in explicit and getattr(options, name) == _DEFAULTS[name]:
            yield f"trainer_spec.{name}"
    has_rules = options.normalization_rule_tsv or options.precompiled_charsmap
    if options.normalization_rule_name == "identity" and not has_rules:
        yield "normalizer_spec.precompiled_charsmap"
    for name in _NORMALIZER_FLAGS:
        if name in explicit and getattr(options, name) == _DEFAULTS[name]:
            yield f"normalizer_spec.{name}"


def _field(value: Any) -> Any:
    if isinstance(value, (str, os.PathLike)):
        return os.fsencode(value)
    if isinstance(value, float):
        return float(np.float32(value))
    return tuple(text.encode() for text in value) if isinstance(value, tuple) else value


def _normalizer(options: SentencePieceOptions) -> dict[str, bytes]:
    if options.normalization_rule_tsv is not None:
        return {"name": b"user_defined", "normalization_rule_tsv": os.fspath(options.normalization_rule_tsv).encode()}
    return {"name": options.normalization_rule_name.encode()}
