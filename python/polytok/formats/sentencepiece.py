"""SentencePiece's ``.model`` file: a ModelProto.

The pieces, the model type, the flags, the character map and ``unk_surface`` are kept only in fields of the Spec, and
are written from these fields. ``extra["sentencepiece"]`` keeps the other fields of the trainer's and the normalizer's
messages, self-test data (self-tests are not run), and unknown fields. Its member ``written_defaults`` lists the fields
that the file contains although their values are the defaults, and its member ``piece_details`` records pieces that have
unusual encodings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from .. import _core
from ..columns import buffer
from ..errors import FormatError
from ..spec import (
    Bpe,
    Char,
    Kind,
    Model,
    Origin,
    SentencePieceDecode,
    SentencePieceNormalize,
    SentencePieceVersion,
    Spec,
    Template,
    Unigram,
    Vocab,
    Word,
)
from . import sentencepiece_proto as proto
from .base import ReadOptions, Written, require_ids_in_row_order, with_losses

name = "sentencepiece"
options = frozenset({"sentencepiece_version"})

_MODEL_OF_TYPE: dict[int, Model] = {1: Unigram(), 2: Bpe("score", symbols="chars"), 3: Word(), 4: Char()}
_UNIGRAM_TYPE = 1
_DEFAULT_UNK_SURFACE = " \u2047 ".encode()
_NORMALIZER_FLAGS = ("add_dummy_prefix", "remove_extra_whitespaces", "escape_whitespaces")
_RESERVED_KINDS = (Kind.UNKNOWN, Kind.CONTROL, Kind.BYTE)
_OTHER_THAN_NORMAL = re.compile(b"[^%c]" % Kind.NORMAL)
_DEFAULT_TEXT_OF_ROLE = {"unk": b"<unk>", "bos": b"<s>", "eos": b"</s>", "pad": b"<pad>"}


def refusal(data: bytes) -> str | None:
    """Accepts a protobuf message that contains pieces."""
    try:
        _core.sentencepiece_probe(data)
    except FormatError as error:
        return str(error)
    return None


def read(data: bytes, options: ReadOptions) -> Spec:
    """Reads a model; raises FormatError for a model that SentencePiece refuses to load."""
    sentencepiece_version: SentencePieceVersion = options.sentencepiece_version or "0.2.3"
    columns, (piece_details, other_messages, charsmap) = _core.sentencepiece_read(data)
    fields = _MessageFields(proto.parse(other_messages, charsmap))
    model_type = fields.take("trainer_spec", "model_type", _UNIGRAM_TYPE)
    byte_fallback = fields.take("trainer_spec", "byte_fallback", False)
    unk_surface = fields.take("trainer_spec", "unk_surface", _DEFAULT_UNK_SURFACE)
    has_suffix = fields.take("trainer_spec", "treat_whitespace_as_suffix", False)
    normalize = fields.take_normalizer("normalizer_spec", has_suffix)
    # SentencePiece ignores a denormalizer without a character map; such a denormalizer is kept in ``extra``.
    denormalizer = fields.messages.get("denormalizer_spec", {})
    denormalize = fields.take_normalizer("denormalizer_spec") if denormalizer.get("precompiled_charsmap") else None

    vocab = Vocab(*columns)
    if byte_fallback and sentencepiece_version == "0.2.3":
        _mark_nul_piece_unused(vocab)
    _core.sentencepiece_check(vocab, model_type, byte_fallback, sentencepiece_version)
    names = _find_special_ids(vocab, fields.messages.get("trainer_spec", {}))
    return Spec(
        vocab=vocab,
        model=_MODEL_OF_TYPE[model_type],
        normalize=(normalize,),
        unknown="bytes" if byte_fallback else "unk",
        post=Template.around(before=(names["bos"],) if "bos" in names else ()),
        decode=SentencePieceDecode(
            normalize.add_dummy_prefix, normalize.remove_extra_whitespaces, unk_surface, denormalize
        ),
        sentencepiece_version=sentencepiece_version,
        names=names,
        origin=Origin(name, options.name),
        extra=fields.extra(piece_details),
    )


def write(spec: Spec) -> Written:
    """Writes a model: the pieces, then the other messages by field number."""
    model_type, normalize, decode = _require_expressible_parts(spec)
    byte_fallback = spec.unknown == "bytes"
    _core.sentencepiece_check(spec.vocab, model_type, byte_fallback, spec.sentencepiece_version)

    extra_fields: Mapping[str, Any] = spec.extra.get(name, {})
    messages = {key: value for key, value in extra_fields.items() if key not in _READER_KEYS}
    fields = _MessageFields(messages, extra_fields.get("written_defaults", ()))
    fields.put("trainer_spec", "model_type", model_type, _UNIGRAM_TYPE)
    fields.put("trainer_spec", "byte_fallback", byte_fallback, False)
    fields.put("trainer_spec", "unk_surface", decode.unk_surface, _DEFAULT_UNK_SURFACE)
    fields.put("trainer_spec", "treat_whitespace_as_suffix", normalize.whitespace_as_suffix, False)
    fields.put_normalizer("normalizer_spec", normalize)
    if decode.denormalize is not None:
        fields.put_normalizer("denormalizer_spec", decode.denormalize)
    pieces = _core.sentencepiece_write(spec.vocab, extra_fields.get("piece_details", b""))
    data = pieces + proto.serialize(fields.messages)
    return with_losses(spec, data, read(data, ReadOptions(sentencepiece_version=spec.sentencepiece_version)))


def _require_expressible_parts(spec: Spec) -> tuple[int, SentencePieceNormalize, SentencePieceDecode]:
    """Returns the model type, normalizer and decoder of a Spec; raises FormatError if a file cannot express the
    Spec."""
    model_type = next((number for number, model in _MODEL_OF_TYPE.items() if model == spec.model), None)
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


_READER_KEYS = ("written_defaults", "piece_details")


class _MessageFields:
    """The fields of the model's messages. `take` removes a field that the Spec contains, and `put` adds it."""

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
        flags = {flag: self.take(message, flag, True) for flag in _NORMALIZER_FLAGS}
        return SentencePieceNormalize(charsmap, whitespace_as_suffix=has_suffix, **flags)

    def put_normalizer(self, message: str, step: SentencePieceNormalize) -> None:
        self.put(message, "precompiled_charsmap", step.charsmap, b"")
        for flag in _NORMALIZER_FLAGS:
            self.put(message, flag, getattr(step, flag), True)

    def extra(self, piece_details: bytes) -> Mapping[str, Any]:
        """Returns the remaining fields as data for ``Spec.extra``.

        A message is omitted if all its fields are stored elsewhere: writing these fields creates the message again.
        """
        remaining_fields: dict[str, Any] = {}
        for key, value in self.messages.items():
            if key not in proto.MESSAGES or value or key not in self.messages_read:
                remaining_fields[key] = value
        if self.written_defaults:
            remaining_fields["written_defaults"] = tuple(self.written_defaults)
        if piece_details:
            remaining_fields["piece_details"] = piece_details
        return {name: remaining_fields} if remaining_fields else {}


def _mark_nul_piece_unused(vocab: Vocab) -> None:
    """Marks the piece that is a single NUL as unused, as SentencePiece 0.2.3 does in models with byte pieces."""
    if b"\0" not in vocab.blob:  # this check is fast, and nearly all models contain no NUL
        return
    kinds = buffer(vocab, "kinds")
    for row, (start, end) in enumerate(pairwise(buffer(vocab, "offsets").tolist())):
        if end - start == 1 and vocab.blob[start] == 0:
            kinds[row] = Kind.UNUSED


def _find_special_ids(vocab: Vocab, trainer_spec: Mapping[str, Any]) -> dict[str, int]:
    """Finds the ids of unk, bos, eos and pad by their texts; a piece of the wrong kind has no role.

    SentencePiece looks up a text among the reserved pieces, then among the ordinary pieces, and returns the unknown
    piece if neither contains the text. So only the unknown piece can be found if its text is missing.
    """
    texts = {role: trainer_spec.get(f"{role}_piece") or text for role, text in _DEFAULT_TEXT_OF_ROLE.items()}
    # Comparing lengths first is fast: most rows that are not normal are byte pieces, whose texts have other lengths.
    offsets, column = buffer(vocab, "offsets"), buffer(vocab, "kinds")
    kinds = {match.start(): column[match.start()] for match in _OTHER_THAN_NORMAL.finditer(column)}
    text_lengths = set(map(len, texts.values()))
    rows = [
        row
        for row, kind in kinds.items()
        if offsets[row + 1] - offsets[row] in text_lengths and kind in _RESERVED_KINDS
    ]
    row_by_text = {vocab.piece(row): row for row in rows}
    ids: dict[str, int] = {}
    for role, text in texts.items():
        row = row_by_text.get(text)
        if row is None and role == "unk" and not _is_text_of_any_row(vocab, text):
            row = next((row for row, kind in kinds.items() if kind == Kind.UNKNOWN), None)
        if row is not None and kinds[row] == (Kind.UNKNOWN if role == "unk" else Kind.CONTROL):
            ids[role] = row
    return ids


def _is_text_of_any_row(vocab: Vocab, text: bytes) -> bool:
    return text in vocab.blob and text in vocab.pieces()  # the first check is fast, and most blobs lack the text
