"""SentencePiece's ``.model`` file: a ModelProto.

Data that the Spec has fields for (pieces, model type, flags, character map, ``unk_surface``) is kept only in these
fields and written from them. ``extra["sentencepiece"]`` keeps the other fields of the trainer's and the normalizer's
messages, self-test data, and unknown fields; self-tests are not run. There, ``written_defaults`` lists the fields that
the file contains although their values are the defaults, and ``piece_details`` records pieces that have unusual
encodings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import _core
from ..errors import FormatError
from ..spec import (
    Bpe,
    Char,
    Kind,
    Line,
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
from . import sentencepiece_proto as proto
from .base import ReadOptions, Written, require_ids_in_row_order, with_losses

name = "sentencepiece"
options = frozenset({"line"})

_MODELS: dict[int, Model] = {1: Unigram(), 2: Bpe("score", symbols="chars"), 3: Word(), 4: Char()}
_UNIGRAM = 1
_UNK_SURFACE = " \u2047 ".encode()
_FLAGS = ("add_dummy_prefix", "remove_extra_whitespaces", "escape_whitespaces")
_RESERVED_KINDS = (Kind.UNKNOWN, Kind.CONTROL, Kind.BYTE)
_SPECIAL_PIECES = {"unk": b"<unk>", "bos": b"<s>", "eos": b"</s>", "pad": b"<pad>"}


def refusal(data: bytes) -> str | None:
    """Accepts bytes that are one protobuf message and contain pieces."""
    try:
        _core.sentencepiece_probe(data)
    except FormatError as error:
        return str(error)
    return None


def read(data: bytes, options: ReadOptions) -> Spec:
    """Reads a model; a model that SentencePiece refuses to load is an error."""
    line: Line = options.line or "0.2.3"
    columns, (piece_details, other_messages, charsmap) = _core.sentencepiece_read(data)
    fields = _MessageFields(proto.parse(other_messages, charsmap))
    model_type = fields.take("trainer_spec", "model_type", _UNIGRAM)
    byte_fallback = fields.take("trainer_spec", "byte_fallback", False)
    unk_surface = fields.take("trainer_spec", "unk_surface", _UNK_SURFACE)
    has_suffix = fields.take("trainer_spec", "treat_whitespace_as_suffix", False)
    normalize = fields.take_normalizer("normalizer_spec", has_suffix)
    # SentencePiece ignores a denormalizer without a character map, which is kept in ``extra``.
    denormalizer = fields.messages.get("denormalizer_spec", {})
    denormalize = fields.take_normalizer("denormalizer_spec") if denormalizer.get("precompiled_charsmap") else None

    vocab = Vocab(*columns)
    if byte_fallback and line == "0.2.3":
        _mark_nul_unused(vocab)
    _core.sentencepiece_check(vocab, model_type, byte_fallback, line)
    names = _special_ids(vocab, fields.messages.get("trainer_spec", {}))
    return Spec(
        vocab=vocab,
        model=_MODELS[model_type],
        normalize=(normalize,),
        unknown="bytes" if byte_fallback else "unk",
        post=Template.around(before=(names["bos"],) if "bos" in names else ()),
        decode=SentencePieceDecode(
            normalize.add_dummy_prefix, normalize.remove_extra_whitespaces, unk_surface, denormalize
        ),
        line=line,
        names=names,
        origin=Origin(name, options.name),
        extra=fields.extra(piece_details),
    )


def write(spec: Spec) -> Written:
    """Writes a model: the pieces, then the other messages by field number."""
    model_type, normalize, decode = _check_parts(spec)
    byte_fallback = spec.unknown == "bytes"
    _core.sentencepiece_check(spec.vocab, model_type, byte_fallback, spec.line)

    kept_fields: Mapping[str, Any] = spec.extra.get(name, {})
    messages = {key: value for key, value in kept_fields.items() if key not in _OWN_KEYS}
    fields = _MessageFields(messages, kept_fields.get("written_defaults", ()))
    fields.put("trainer_spec", "model_type", model_type, _UNIGRAM)
    fields.put("trainer_spec", "byte_fallback", byte_fallback, False)
    fields.put("trainer_spec", "unk_surface", decode.unk_surface, _UNK_SURFACE)
    fields.put("trainer_spec", "treat_whitespace_as_suffix", normalize.whitespace_as_suffix, False)
    fields.put_normalizer("normalizer_spec", normalize)
    if decode.denormalize is not None:
        fields.put_normalizer("denormalizer_spec", decode.denormalize)
    pieces = _core.sentencepiece_write(spec.vocab, kept_fields.get("piece_details", b""))
    data = pieces + proto.serialize(fields.messages)
    return with_losses(spec, data, read(data, ReadOptions(line=spec.line)))


def _check_parts(spec: Spec) -> tuple[int, SentencePieceNormalize, SentencePieceDecode]:
    """Returns the parts of a Spec that a model can express; raises FormatError if it cannot express the Spec."""
    model_type = next((number for number, model in _MODELS.items() if model == spec.model), None)
    if model_type is None:
        raise FormatError(f"SentencePiece has no model like this: {spec.model!r:.100}")
    if len(spec.normalize) != 1 or not isinstance(spec.normalize[0], SentencePieceNormalize):
        raise FormatError("a SentencePiece model has exactly one normalize step, SentencePiece's own")
    if not isinstance(spec.decode, SentencePieceDecode):
        raise FormatError(f"a SentencePiece model cannot have the decoder {spec.decode.kind!r}")
    if spec.unknown == "error":
        raise FormatError(
            "a SentencePiece model has an unknown piece or byte pieces; unknown='error' cannot be expressed"
        )
    require_ids_in_row_order(spec.vocab, name)
    return model_type, spec.normalize[0], spec.decode


_OWN_KEYS = ("written_defaults", "piece_details")


class _MessageFields:
    """The fields of the model's messages. Reading removes the Spec's fields, and writing adds them."""

    def __init__(self, messages: Mapping[str, Any], written_defaults: tuple[str, ...] = ()) -> None:
        self.messages = {key: dict(value) if key in proto.MESSAGES else value for key, value in messages.items()}
        self.written_defaults = list(written_defaults)
        self.messages_read: set[str] = set()

    def take(self, message: str, field: str, default: Any) -> Any:
        fields = self.messages.get(message, {})
        if field not in fields:
            return default
        if fields[field] == default:
            self.written_defaults.append(f"{message}.{field}")
        self.messages_read.add(message)
        return fields.pop(field)

    def put(self, message: str, field: str, value: Any, default: Any) -> None:
        if value != default or f"{message}.{field}" in self.written_defaults:
            self.messages.setdefault(message, {})[field] = value

    def take_normalizer(self, message: str, has_suffix: bool = False) -> SentencePieceNormalize:
        charsmap = self.take(message, "precompiled_charsmap", b"")
        flags = {flag: self.take(message, flag, True) for flag in _FLAGS}
        return SentencePieceNormalize(charsmap, whitespace_as_suffix=has_suffix, **flags)

    def put_normalizer(self, message: str, step: SentencePieceNormalize) -> None:
        self.put(message, "precompiled_charsmap", step.charsmap, b"")
        for flag in _FLAGS:
            self.put(message, flag, getattr(step, flag), True)

    def extra(self, piece_details: bytes) -> Mapping[str, Any]:
        """Returns the remaining fields, for ``Spec.extra``.

        A message without remaining fields is omitted if the Spec has fields of the message, because writing these
        fields adds the message again.
        """
        remaining: dict[str, Any] = {}
        for key, value in self.messages.items():
            if key not in proto.MESSAGES or value or key not in self.messages_read:
                remaining[key] = value
        if self.written_defaults:
            remaining["written_defaults"] = tuple(self.written_defaults)
        if piece_details:
            remaining["piece_details"] = piece_details
        return {name: remaining} if remaining else {}


def _mark_nul_unused(vocab: Vocab) -> None:
    """Marks a piece that is one NUL as unused, as SentencePiece 0.2.3 does in models with byte pieces."""
    if b"\0" not in vocab.blob:  # the check is fast, and nearly all models have no NUL
        return
    one_byte_rows = np.flatnonzero(np.diff(vocab.offsets) == 1)
    first_bytes = np.frombuffer(vocab.blob, dtype=np.uint8)[vocab.offsets[one_byte_rows]]
    vocab.kinds[one_byte_rows[first_bytes == 0]] = Kind.UNUSED


def _special_ids(vocab: Vocab, trainer_spec: Mapping[str, Any]) -> dict[str, int]:
    """Returns the ids of unk, bos, eos and pad, which are found by their texts; the piece must have the right kind.

    SentencePiece looks up a text among the reserved pieces first, then among the ordinary pieces, and otherwise uses
    the unknown piece. So only the unknown piece can be found without its text.
    """
    texts = {role: trainer_spec.get(f"{role}_piece") or text for role, text in _SPECIAL_PIECES.items()}
    # Nearly all rows are normal, and most of the others are bytes, whose texts have other lengths.
    special_rows = np.flatnonzero(vocab.kinds != Kind.NORMAL)
    kinds = dict(zip(special_rows.tolist(), vocab.kinds[special_rows].tolist(), strict=True))
    lengths = set(map(len, texts.values()))
    sizes = (vocab.offsets[special_rows + 1] - vocab.offsets[special_rows]).tolist()
    rows = [row for row, size in zip(kinds, sizes, strict=True) if size in lengths and kinds[row] in _RESERVED_KINDS]
    row_by_text = {vocab.piece(row): row for row in rows}
    ids: dict[str, int] = {}
    for role, text in texts.items():
        row = row_by_text.get(text)
        if row is None and role == "unk" and not _is_ordinary(vocab, text):
            row = next((row for row, kind in kinds.items() if kind == Kind.UNKNOWN), None)
        if row is not None and kinds[row] == (Kind.UNKNOWN if role == "unk" else Kind.CONTROL):
            ids[role] = row
    return ids


def _is_ordinary(vocab: Vocab, text: bytes) -> bool:
    rows = np.flatnonzero(np.diff(vocab.offsets) == len(text))
    first_bytes = np.frombuffer(vocab.blob, dtype=np.uint8)[vocab.offsets[rows]]
    return any(vocab.piece(int(row)) == text for row in rows[first_bytes == text[0]])
