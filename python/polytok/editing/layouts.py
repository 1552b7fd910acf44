"""What each format requires of ids, and the rows that reserve an id.

Most files number their rows without gaps. If an id is free, a reserved row takes it, whose text no text contains: a row
of the kind UNUSED where the format has kinds; else a text with a space where the model never sees a space, or a text
with the byte 0xFF, which is not part of UTF-8.
"""

from __future__ import annotations

from ..conversion.gguf import BYTE_NEVER_IN_TEXT
from ..records import dataclass
from ..spec import Bpe, Kind, Longest, Spec, merges_bytes

_NUMBERED_FORMATS = ("huggingface", "gguf", "minbpe", "tekken")
"""The formats of BPE over bytes that have no gaps in their ids."""
_BYTE_FORMATS = ("llama2c", "minbpe")


@dataclass(frozen=True, slots=True)
class Layout:
    """The rules of a file format about ids.

    * ``format``: the name of the format.
    * ``has_gaps``: ids can be missing.
    * ``new_ids_last``: ids order the merges, so new entries need higher ids than all others.
    * ``special_first``, ``special_last``: special tokens are numbered before or after all entries.
    * ``reserved_text``, ``reserved_kind``: the text of a reserved row, with %d for its id, and its kind.
    """

    format: str
    has_gaps: bool
    new_ids_last: bool
    special_first: bool
    special_last: bool
    reserved_text: bytes
    reserved_kind: int

    def reserved_piece(self, id: int) -> bytes:
        """Returns the text of the reserved row with an id."""
        return self.reserved_text % id

    def is_reserved(self, piece: bytes, id: int) -> bool:
        """Reports whether a row reserves its id."""
        return piece == self.reserved_piece(id)


def layout_of(spec: Spec) -> Layout:
    """Returns the rules of the format that a Spec was read from; of one without a file, those of its model."""
    format, model = spec.origin.format, spec.model
    is_rank = isinstance(model, Bpe) and model.priority == "rank"
    text, kind = _reserved_row(spec)
    return Layout(
        format=format,
        has_gaps=_has_gaps(spec),
        new_ids_last=is_rank or format == "minbpe",
        special_first=format == "tekken",
        special_last=format == "minbpe",
        reserved_text=text,
        reserved_kind=kind,
    )


def _has_gaps(spec: Spec) -> bool:
    if merges_bytes(spec.model):
        return spec.origin.format not in _NUMBERED_FORMATS
    return isinstance(spec.model, Longest) and spec.origin.format != "gguf"


def _reserved_row(spec: Spec) -> tuple[bytes, int]:
    """Returns the text and the kind of reserved rows."""
    format, model = spec.origin.format, spec.model
    is_rank = isinstance(model, Bpe) and model.priority == "rank"
    if is_rank or isinstance(model, Longest) or format in _BYTE_FORMATS:
        return BYTE_NEVER_IN_TEXT + b"[PAD%d]", Kind.NORMAL
    if format == "gguf":  # llama.cpp matches unused rows too, if it does not merge a list of pairs
        is_list = isinstance(model, Bpe) and model.merges is not None
        return b"[PAD%d]" if is_list else b"[PAD %d]", Kind.UNUSED
    if format == "sentencepiece" or model.kind in ("word", "char"):
        return b"[PAD%d]", Kind.UNUSED
    if isinstance(model, Bpe) and model.symbols != "scalars":
        return b"[PAD %d]", Kind.UNUSED
    if model.kind == "unigram" and getattr(model, "rules", "") != "huggingface":
        return b"[PAD%d]", Kind.UNUSED
    return b"[PAD %d]", Kind.NORMAL
