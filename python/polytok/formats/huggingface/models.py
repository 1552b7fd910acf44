"""Converts models in JSON to a Spec's model, and back. The vocabulary and the merges are not part of this JSON.

The vocabulary and the merges are read and written as columns by the engine (wire/huggingface). Byte-level BPE is
converted to BPE over raw bytes, which is faster. Both encode alike under three conditions: ByteLevel is the last
pre-tokenizer, all bytes that occur in UTF-8 are entries, and the model adds no affixes. Then every piece consists of
known symbols, and GPT-2's table converts bytes to characters and back without loss.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from ... import _core
from ...columns import buffer
from ...errors import FormatError
from ...spec import Bpe, Kind, Model, Spec, Unigram, UnknownPolicy, Vocab, WordLevel, WordPiece
from .fields import Fields, Json, component_fields, component_name, shorten

_COMPONENTS = (
    component_fields("BPE", "merges", tagged=False),
    component_fields("WordPiece", "unk_token continuing_subword_prefix max_input_chars_per_word", tagged=False),
    component_fields("WordLevel", "unk_token", tagged=False),
    component_fields("Unigram", tagged=False),
)


class ModelParts(NamedTuple):
    """A model with its vocabulary, its policy for unknown text, and the id of the unknown token.

    ``complete`` is true if every byte has an entry, even the bytes that never occur in UTF-8.
    """

    model: Model
    vocab: Vocab
    unknown: UnknownPolicy
    unk: int | None = None
    complete: bool = False


Merges: TypeAlias = memoryview | None


def read(value: Json, vocab: Vocab, merges: Merges) -> ModelParts:
    """Reads the JSON of a model; the entries of its vocabulary are texts. Sets the kind of the unknown token."""
    fields = Fields({**value, **({"merges": None} if merges is not None else {})}, "model")
    component = component_name(fields, _COMPONENTS)
    is_list = buffer(vocab, "scores").format == "d"
    if is_list != (component == "Unigram"):
        actual_container = "a list, not an object" if is_list else "an object, not a list"
        raise FormatError(f"model: the vocab of {component} is {actual_container}")
    if component == "Unigram":
        return _read_unigram(fields, vocab)
    if component == "BPE":
        if merges is None:
            raise FormatError("model: BPE without merges, so the file is incomplete: download or write it again")
        return _read_bpe(fields, vocab, merges)
    unk_token = fields.text("unk_token")
    if component == "WordLevel":
        return _with_unknown_token(WordLevel(), vocab, unk_token, "error")
    prefix, max_chars = fields.text("continuing_subword_prefix"), fields.number("max_input_chars_per_word")
    return _with_unknown_token(WordPiece(prefix, max_chars), vocab, unk_token, "error")


def _read_bpe(fields: Fields, vocab: Vocab, merges: memoryview) -> ModelParts:
    dropout = fields.value.get("dropout")
    is_number = isinstance(dropout, int | float) and not isinstance(dropout, bool)
    if dropout is not None and not (is_number and 0 <= dropout <= 1):
        raise FormatError(f"model: dropout is {shorten(dropout)}, but it must be null or a number from 0 to 1")
    model = Bpe(
        "merges",
        symbols="scalars",
        whole_piece_first=fields.flag("ignore_merges", False),
        merges=merges,
        continuing_prefix=fields.optional_text("continuing_subword_prefix") or "",
        word_suffix=fields.optional_text("end_of_word_suffix") or "",
        byte_fallback=fields.flag("byte_fallback", False),
        fuse_unknown=fields.flag("fuse_unk", False),
    )
    unk_token = fields.optional_text("unk_token")
    if unk_token is None:
        return ModelParts(model, vocab, "drop")
    return _with_unknown_token(model, vocab, unk_token, "error")


def _read_unigram(fields: Fields, vocab: Vocab) -> ModelParts:
    model = Unigram("huggingface", byte_fallback=fields.flag("byte_fallback", False))
    if fields.value.get("unk_id") is None:
        return ModelParts(model, vocab, "error")
    unk = fields.number("unk_id")
    if unk >= len(vocab):
        raise FormatError(f"model: unk_id is {unk}, but the vocabulary has {len(vocab)} entries")
    buffer(vocab, "kinds")[unk] = Kind.UNKNOWN
    return ModelParts(model, vocab, "unk", unk)


def _with_unknown_token(model: Model, vocab: Vocab, unk_token: str, default_policy: UnknownPolicy) -> ModelParts:
    row = rows_of_texts(vocab, [unk_token]).get(unk_token)
    if row is None:
        return ModelParts(model, vocab, default_policy)
    buffer(vocab, "kinds")[row] = Kind.UNKNOWN
    return ModelParts(model, vocab, "unk", buffer(vocab, "ids")[row])


def rows_of_texts(vocab: Vocab, texts: list[str]) -> dict[str, int]:
    """Maps each of the texts that is an entry to its row, and to the last row if several rows have the text."""
    rows = _core.huggingface_rows(vocab, [text.encode() for text in texts])
    return {text: row for text, row in zip(texts, rows, strict=True) if row is not None}


def to_raw_bytes(parts: ModelParts) -> ModelParts | None:
    """Converts a byte-level model to a model over raw bytes; returns None if the model is not byte-level."""
    model = parts.model
    if not isinstance(model, Bpe) or model.continuing_prefix or model.word_suffix:
        return None
    merges = buffer(model, "merges")
    byte_columns = _core.huggingface_bytes(parts.vocab, merges)
    if byte_columns is None:
        return None
    columns, complete = byte_columns
    byte_model = Bpe("merges", whole_piece_first=model.whole_piece_first, merges=merges)
    return ModelParts(byte_model, Vocab(*columns), "error", parts.unk, complete)


def write(spec: Spec) -> Json:
    """Converts a Spec's model to JSON fields; raises FormatError if Hugging Face has no such model."""
    model, unk = spec.model, _unknown_text(spec)
    match model:
        case Bpe(priority="merges", symbols="bytes" | "scalars", reserved=False):
            return {
                "type": "BPE",
                "dropout": None,
                "unk_token": _DEFAULT_UNKNOWN_TEXT if model.symbols == "scalars" and spec.unknown == "error" else unk,
                "continuing_subword_prefix": model.continuing_prefix or None,
                "end_of_word_suffix": model.word_suffix or None,
                "fuse_unk": model.fuse_unknown,
                "byte_fallback": model.byte_fallback,
                "ignore_merges": model.whole_piece_first,
            }
        case Unigram(rules="huggingface"):
            return {"type": "Unigram", "unk_id": _unknown_row(spec), "byte_fallback": model.byte_fallback}
        case WordPiece(phantom_space=False, max_chars=int() as max_chars):
            fields = {"continuing_subword_prefix": model.continuing_prefix, "max_input_chars_per_word": max_chars}
            return {"type": "WordPiece", "unk_token": _unknown_text_or_default(unk), **fields}
        case WordLevel():
            return {"type": "WordLevel", "unk_token": _unknown_text_or_default(unk)}
    raise FormatError(f"tokenizers has no model like this: {model!r:.100}")


_DEFAULT_UNKNOWN_TEXT = "[UNK]"


def _unknown_row(spec: Spec) -> int | None:
    row = bytes(buffer(spec.vocab, "kinds")).find(Kind.UNKNOWN) if spec.unknown == "unk" else -1
    return None if row < 0 else row


def _unknown_text(spec: Spec) -> str | None:
    row = _unknown_row(spec)
    return None if row is None else spec.vocab.piece(row).decode(errors="replace")


def _unknown_text_or_default(unk: str | None) -> str:
    return _DEFAULT_UNKNOWN_TEXT if unk is None else unk
