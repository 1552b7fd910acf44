"""Builds the Spec of trained and reserved pieces. The Spec is saved as the same ``.model`` file as SentencePiece's."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import ArgumentError
from ...keywords import keyword
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
from .meta import ReservedPieces
from .options import SentencePieceOptions

_BPE = Bpe("score", symbols="chars")
_MODELS: dict[str, Model] = {"unigram": Unigram(), "bpe": _BPE, "word": Word(), "char": Char()}
# Fields that a Spec has itself. If the user sets such a field to SentencePiece's default, "written_defaults" lists it.
_FIELDS_OF_SPEC = ("byte_fallback", "unk_surface", "treat_whitespace_as_suffix")
_DEFAULTS = {field.name: field.default for field in fields(SentencePieceOptions)}
_NORMALIZER_FLAGS = ("add_dummy_prefix", "remove_extra_whitespaces")
# Options that SentencePiece does not write to the trainer_spec of a model.
_UNWRITTEN_FIELDS = frozenset(
    {
        "profile",
        "sentencepiece_version",
        "sentences",
        "self_test_sample_size",
        "tsv",
        "precompiled_charsmap",
        "normalization_rule_name",
        "normalization_rule_tsv",
        "denormalization_rule_tsv",
        *_FIELDS_OF_SPEC,
        *_NORMALIZER_FLAGS,
    }
)


def build_spec(
    options: SentencePieceOptions,
    explicit_names: Collection[str],
    model: str,
    reserved_by_id: ReservedPieces,
    pieces: Sequence[bytes],
    scores: npt.NDArray[np.float32],
    normalize: SentencePieceNormalize,
    denormalize: SentencePieceNormalize | None,
) -> Spec:
    """Returns the Spec of a trained vocabulary.

    ``explicit_names`` has the names of the options that the user or the profile sets, ``reserved_by_id`` the reserved
    pieces by id. Raises `ArgumentError` if SentencePiece would reject the pieces and ids.
    """
    size = len(reserved_by_id) + len(pieces) if options.use_all_vocab else options.vocab_size
    rows = _rows(reserved_by_id, pieces, scores, size)
    _check_size(options, model, len(rows), size)
    names = _names(options, reserved_by_id)
    return Spec(
        vocab=Vocab.from_rows((text, id, score, kind) for id, (text, score, kind) in enumerate(rows)),
        model=_MODELS[model],
        normalize=(normalize,),
        unknown="bytes" if options.byte_fallback else "unk",
        post=Template.around(before=(names["bos"],) if "bos" in names else ()),
        decode=SentencePieceDecode(
            options.add_dummy_prefix, options.remove_extra_whitespaces, options.unk_surface.encode(), denormalize
        ),
        sentencepiece_version=options.sentencepiece_version,
        names=names,
        origin=Origin("sentencepiece"),
        extra={"sentencepiece": _extra_fields(options, explicit_names, model, len(rows))},
    )


def _rows(
    reserved_by_id: ReservedPieces, pieces: Sequence[bytes], scores: npt.NDArray[np.float32], size: int
) -> list[tuple[bytes, float, Kind]]:
    """Returns all pieces by id: the reserved pieces at their ids, and the trained pieces in order at the other ids."""
    rows: list[tuple[bytes, float, Kind]] = []
    piece_count = len(reserved_by_id) + len(pieces)
    trained_pieces = iter(zip(pieces, scores.tolist(), strict=True))
    # Ids have no gaps, so a reserved piece after the last trained piece is an error, which is raised below.
    for id in [*range(min(size, piece_count)), *sorted(id for id in reserved_by_id if piece_count <= id < size)]:
        if id in reserved_by_id:
            if len(rows) != id:
                raise ArgumentError(
                    f"{reserved_by_id[id][0]!r} has the id {id}, but the vocabulary has only {len(rows)} other pieces: "
                    "choose a lower id"
                )
            rows.append((reserved_by_id[id][0].encode(), 0.0, reserved_by_id[id][1]))
        elif (next_piece := next(trained_pieces, None)) is not None:
            rows.append((*next_piece, Kind.NORMAL))
    if next(trained_pieces, None) is not None or any(id >= size for id in reserved_by_id):
        raise ArgumentError(
            f"{keyword(f'vocab_size={size}')} is too small for {len(reserved_by_id)} reserved pieces: raise "
            f"{keyword('vocab_size')}"
        )
    seen_pieces: set[bytes] = set()
    for text, _, _ in rows:
        if text in seen_pieces:
            raise ArgumentError(
                f"{text.decode()!r} is a reserved piece and also a trained piece or another reserved piece"
            )
        seen_pieces.add(text)
    return rows


def _check_size(options: SentencePieceOptions, model: str, piece_count: int, size: int) -> None:
    if options.hard_vocab_limit and model != "char" and piece_count != size:
        raise ArgumentError(
            f"{keyword(f'vocab_size={size}')} is too high, because the texts allow {piece_count} pieces: lower "
            f"{keyword('vocab_size')}, give more "
            f"text, or set {keyword('hard_vocab_limit', False)}"
        )


def _names(options: SentencePieceOptions, reserved_by_id: ReservedPieces) -> dict[str, int]:
    kinds = {"unk": Kind.UNKNOWN, "bos": Kind.CONTROL, "eos": Kind.CONTROL, "pad": Kind.CONTROL}
    ids = {text: id for id, (text, _) in reserved_by_id.items()}
    role_ids = {role: ids.get(getattr(options, f"{role}_piece")) for role in kinds}
    return {role: id for role, id in role_ids.items() if id is not None and reserved_by_id[id][1] == kinds[role]}


def _extra_fields(
    options: SentencePieceOptions, explicit_names: Collection[str], model: str, size: int
) -> dict[str, Any]:
    """Returns the fields of the ``.model`` file that a Spec does not have itself, as SentencePiece sets them."""
    trainer: dict[str, Any] = {}
    for name in sorted(explicit_names):  # sets have a different order in every process
        value = getattr(options, name)
        if name not in _UNWRITTEN_FIELDS and value is not None:
            trainer[name] = _field_value(value)
    if options.tsv:
        trainer["input_format"] = b"tsv"
    if not options.hard_vocab_limit or model == "char" or options.use_all_vocab:
        trainer["vocab_size"] = size
    messages: dict[str, Any] = {"trainer_spec": trainer, "normalizer_spec": _normalizer(options)}
    if options.denormalization_rule_tsv is not None:
        path = os.fspath(options.denormalization_rule_tsv).encode()
        messages["denormalizer_spec"] = {"name": b"user_defined", "normalization_rule_tsv": path}
    written_defaults = tuple(_written_defaults(options, explicit_names, model))
    return {**messages, "written_defaults": written_defaults} if written_defaults else messages


def _written_defaults(options: SentencePieceOptions, explicit_names: Collection[str], model: str) -> Iterator[str]:
    """Yields the names of fields of the Spec that the ``.model`` file contains although they have default values."""
    if model == "unigram":
        yield "trainer_spec.model_type"
    for name in _FIELDS_OF_SPEC:
        if name in explicit_names and getattr(options, name) == _DEFAULTS[name]:
            yield f"trainer_spec.{name}"
    has_rules = options.normalization_rule_tsv or options.precompiled_charsmap
    if options.normalization_rule_name == "identity" and not has_rules:
        yield "normalizer_spec.precompiled_charsmap"
    for name in _NORMALIZER_FLAGS:
        if name in explicit_names and getattr(options, name) == _DEFAULTS[name]:
            yield f"normalizer_spec.{name}"


def _field_value(value: Any) -> Any:
    if isinstance(value, (str, os.PathLike)):
        return os.fsencode(value)
    if isinstance(value, float):
        return float(np.float32(value))
    return tuple(text.encode() for text in value) if isinstance(value, tuple) else value


def _normalizer(options: SentencePieceOptions) -> dict[str, bytes]:
    if options.normalization_rule_tsv is not None:
        return {"name": b"user_defined", "normalization_rule_tsv": os.fspath(options.normalization_rule_tsv).encode()}
    return {"name": options.normalization_rule_name.encode()}
