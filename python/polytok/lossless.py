"""Decides whether decoding restores every text: ``decode_bytes(encode(text)) == text``.

The decision follows from the Spec alone, for encoding without special tokens. There are two decisions: one for every
valid UTF-8 text, and one for every sequence of bytes. Each step of the pipeline is checked: if decoding does not
provably undo the step, the step is a `Reason` against lossless decoding. So a positive answer is certain.

The reasons are, by stage of the pipeline:

* normalize: a character map that changes a text; removed spaces; spaces written as U+2581 (decoding then converts a
  U+2581 of the text to a space); a space that encoding adds and decoding does not remove.
* split: a pattern that drops text (see pattern_coverage.py).
* model and unknown: a character or a byte that has neither an entry nor byte pieces.
* decode: the removal of a space that encoding did not add; pieces whose text is an escape; a denormalizer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from .pattern_coverage import covers_all_text
from .space_mark import SPACE_MARK_BYTES
from .spec import (
    Bpe,
    BytesDecode,
    Kind,
    Llama2cDecode,
    LlamaCppDecode,
    Longest,
    PatternSplit,
    PrefixSpace,
    SentencePieceDecode,
    SentencePieceNormalize,
    Spec,
    SplitStep,
    Unigram,
    Word,
    merges_bytes,
)

_KINDS_OUTSIDE_TEXT = (Kind.UNKNOWN, Kind.CONTROL, Kind.BYTE)
_LAST_CHARACTER = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)
# Bytes that never occur in valid UTF-8.
_BYTES_NEVER_IN_UTF8 = frozenset((0xC0, 0xC1, *range(0xF5, 0x100)))
_ESCAPE_PATTERN = re.compile(rb"<0x[0-9A-Fa-f]")
_BYTE_PIECE = re.compile(rb"<0x([0-9A-F]{2})>")
_MAX_EXAMINED_PIECE_BYTES = 64
_LLAMA2C_FIRST_BYTE_ID = 3
_LLAMA2C_BOS_ID = 1


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason why a text can change (``what``), and an example of such a text if one is known.

    ``valid_utf8`` is True if valid UTF-8 can change, and False if only other bytes can.
    """

    what: str
    example: bytes | None = None
    valid_utf8: bool = True

    def __str__(self) -> str:
        return self.what


@dataclass(frozen=True, slots=True)
class Lossless:
    """Reports whether decoding restores every text, with all reasons why it may not.

    The object is true if every valid UTF-8 text is restored.
    """

    reasons: tuple[Reason, ...]

    @property
    def for_text(self) -> bool:
        """True if every valid UTF-8 text is restored."""
        return not any(reason.valid_utf8 for reason in self.reasons)

    @property
    def for_bytes(self) -> bool:
        """True if every sequence of bytes is restored."""
        return not self.reasons

    def __bool__(self) -> bool:
        return self.for_text


def lossless(spec: Spec) -> Lossless:
    """Decides whether decoding restores every encoded text.

    >>> from polytok.spec import Longest, Vocab
    >>> bool(lossless(Spec(Vocab.from_rows((bytes([b]), b, 0.0, Kind.NORMAL) for b in range(256)), Longest())))
    True
    """
    return Lossless(tuple(_reasons_against(spec)))


def _reasons_against(spec: Spec) -> Iterator[Reason]:
    for split in spec.split:
        yield from _split_reasons(split)
    match spec.normalize, spec.decode:
        case (), BytesDecode():
            yield from _reasons_over_bytes(spec)
        case (PrefixSpace(),), Llama2cDecode():
            yield from _llama2c_reasons(spec)
        case (SentencePieceNormalize() as step,), SentencePieceDecode() as decode:
            yield from _sentencepiece_reasons(spec, step, decode)
        case _, LlamaCppDecode(clean_spaces=True):
            yield Reason("decode: spaces before punctuation are removed (clean_spaces)", b"a .")
        case _:
            steps = " and ".join(step.kind for step in spec.normalize) or "nothing"
            yield Reason(f"decode: {spec.decode.kind} does not provably undo the normalizer ({steps})")


def _split_reasons(step: SplitStep) -> Iterator[Reason]:
    if not isinstance(step, PatternSplit):
        yield Reason(f"split: {step.kind} can change pieces")
    elif step.behavior == "removed" or (step.behavior == "matches" and step.invert):
        yield Reason("split: text that the pattern matches is dropped")
    elif step.behavior == "matches" and not covers_all_text(step):
        yield Reason("split: the pattern does not provably match all text, and text that it does not match is dropped")


# Formats whose decoding concatenates the pieces unchanged: tiktoken, minbpe, RWKV


def _reasons_over_bytes(spec: Spec) -> Iterator[Reason]:
    """Yields the reasons for a model over bytes, which needs an entry for every byte."""
    if not (isinstance(spec.model, Longest) or merges_bytes(spec.model)):
        yield Reason(f"model: {spec.model.kind} with decoding by {spec.decode.kind} does not provably restore all text")
        return
    bytes_with_entry = {piece[0] for piece in _PieceSets(spec).usable_pieces if len(piece) == 1}
    missing_bytes = sorted(set(range(256)) - bytes_with_entry)
    utf8_bytes = [byte for byte in missing_bytes if byte not in _BYTES_NEVER_IN_UTF8]
    if utf8_bytes:
        example = bytes([utf8_bytes[0]]) if utf8_bytes[0] < 0x80 else None
        yield Reason(f"vocab: {_name_bytes(utf8_bytes)} has no entry, so text with it is an error", example)
    if other_bytes := [byte for byte in missing_bytes if byte in _BYTES_NEVER_IN_UTF8]:
        yield Reason(f"vocab: {_name_bytes(other_bytes)} has no entry", bytes([other_bytes[0]]), valid_utf8=False)


def _name_bytes(values: list[int]) -> str:
    suffix = f" and {len(values) - 1} more" if len(values) > 1 else ""
    return f"byte 0x{values[0]:02X}{suffix}"


# SentencePiece


def _sentencepiece_reasons(spec: Spec, step: SentencePieceNormalize, decode: SentencePieceDecode) -> Iterator[Reason]:
    pieces = _PieceSets(spec)
    yield from _charsmap_reasons(step, pieces.user_defined_pieces, "normalize")
    yield from _added_space_reasons(step, decode)
    yield from _space_mark_reasons(step, pieces)
    if spec.unknown == "bytes":
        yield from _byte_fallback_reasons(spec, step, pieces)
    else:
        yield from _unknown_text_reasons(spec, pieces, decode)
    if spec.sentencepiece_version == "0.2.1":
        yield from _reserved_piece_reasons(spec, pieces)
    if decode.denormalize is not None:
        yield from _denormalizer_reasons(decode.denormalize)
    yield Reason("normalize: bytes that are not UTF-8 become U+FFFD", b"\xff", valid_utf8=False)


def _charsmap_reasons(
    step: SentencePieceNormalize, user_defined_pieces: tuple[bytes, ...], stage: str
) -> Iterator[Reason]:
    if rewritten_key := _find_changed_key(step.charsmap, user_defined_pieces):
        key, value = (text.decode(errors="backslashreplace") for text in rewritten_key)
        yield Reason(f"{stage}: the character map rewrites text ({key!a} becomes {value!a})", rewritten_key[0])
    if step.remove_extra_whitespaces:
        yield Reason(f"{stage}: remove_extra_whitespaces drops spaces at both ends and all but one of a run", b" a  b ")


def _added_space_reasons(step: SentencePieceNormalize, decode: SentencePieceDecode) -> Iterator[Reason]:
    """Yields the reasons that concern the space that encoding adds and the space that decoding removes."""
    removes_space = decode.add_dummy_prefix or decode.remove_extra_whitespaces
    if step.add_dummy_prefix and step.whitespace_as_suffix:
        yield Reason("normalize: decoding does not remove the space that is added at the end", b"a")
    elif step.add_dummy_prefix and not (step.escape_whitespaces and removes_space):
        yield Reason("normalize: decoding does not remove the space that is added in front", b"a")
    elif removes_space and not step.add_dummy_prefix and step.escape_whitespaces and not step.remove_extra_whitespaces:
        yield Reason("decode: a space at the start is removed, but none was added there", b" a")
    elif decode.remove_extra_whitespaces and not step.remove_extra_whitespaces:
        yield Reason("decode: several spaces at the start can be removed, but only one was added")


def _space_mark_reasons(step: SentencePieceNormalize, pieces: _PieceSets) -> Iterator[Reason]:
    marked_piece = min((piece for piece in pieces.usable_pieces if SPACE_MARK_BYTES in piece), key=len, default=None)
    if marked_piece is None:
        return
    if step.escape_whitespaces:
        yield Reason("normalize: a space is written as U+2581, so U+2581 is decoded to a space", b"a" + marked_piece)
    else:
        yield Reason("decode: U+2581 in a piece is decoded to a space", marked_piece)


def _byte_fallback_reasons(spec: Spec, step: SentencePieceNormalize, pieces: _PieceSets) -> Iterator[Reason]:
    """Yields the reasons that concern byte pieces. They decode to normalized text, in which a space can be U+2581."""
    unknown_character = pieces.unknown_character
    if missing_bytes := sorted(set(range(256)) - pieces.bytes_with_piece - _BYTES_NEVER_IN_UTF8):
        yield Reason(f"unknown: {_name_bytes(missing_bytes)} has no active byte piece", unknown_character)
    if isinstance(spec.model, Word):
        if step.escape_whitespaces and unknown_character:
            yield Reason(
                "unknown: a word without an entry is decoded from its bytes, with its space as U+2581",
                b"a " + unknown_character,
            )
    elif step.escape_whitespaces and SPACE_MARK_BYTES not in pieces.usable_pieces and unknown_character:
        yield Reason("vocab: U+2581 has no entry, so a space is decoded to U+2581", b"a " + unknown_character)


def _unknown_text_reasons(spec: Spec, pieces: _PieceSets, decode: SentencePieceDecode) -> Iterator[Reason]:
    if pieces.unknown_character is None:
        return
    units = "words" if isinstance(spec.model, Word) else "characters"
    unknown_surface = decode.unk_surface.decode(errors="backslashreplace")
    outcome_text = (
        "are an error"
        if spec.unknown == "error"
        else f"are encoded to the unknown piece, which prints {unknown_surface!r}"
    )
    yield Reason(f"unknown: {units} without an entry {outcome_text}", pieces.unknown_character)


def _reserved_piece_reasons(spec: Spec, pieces: _PieceSets) -> Iterator[Reason]:
    """Yields the reasons that only SentencePiece 0.2.1 has, because it looks up reserved pieces by their texts."""
    for piece in pieces.control_pieces:
        is_whole_input = isinstance(spec.model, Word) or len(piece.decode(errors="replace")) == 1
        if is_whole_input and not isinstance(spec.model, Unigram):
            yield Reason(f"model: the control symbol {piece!r} in text is an error in SentencePiece 0.2.1", piece)
            break
    if ambiguous_piece := next((piece for piece in pieces.usable_pieces if piece in pieces.reserved_pieces), None):
        yield Reason(
            f"decode: {ambiguous_piece!r} is also a reserved piece, and SentencePiece 0.2.1 decodes the reserved piece",
            ambiguous_piece,
        )


def _denormalizer_reasons(step: SentencePieceNormalize) -> Iterator[Reason]:
    yield from _charsmap_reasons(step, (), "decode: denormalizer")
    if step.add_dummy_prefix:
        yield Reason("decode: denormalizer: a space is added in front of the text", b"a")
    if step.escape_whitespaces:
        yield Reason("decode: denormalizer: spaces are replaced with U+2581", b"a b")


# llama2.c


def _llama2c_reasons(spec: Spec) -> Iterator[Reason]:
    """Yields the reasons for llama2.c, which decodes entries unchanged, except escapes of bytes and the first space."""
    pieces = _PieceSets(spec)
    if not isinstance(spec.model, Bpe) or spec.model.symbols != "groups" or spec.unknown != "bytes":
        yield Reason("model: only llama2.c's own model provably fits llama2.c's decoding")
        return
    if b" " not in pieces.all_pieces:
        yield Reason("vocab: a space has no entry, so decoding does not remove the added space", b"a")
    if wrong_bytes := _wrong_bytes(spec):
        yield Reason(
            f"vocab: {_name_bytes(wrong_bytes)} does not have the id {wrong_bytes[0]} + {_LLAMA2C_FIRST_BYTE_ID}"
        )
    mergeable = _MergeableEntries(pieces.all_pieces)
    for row, piece in enumerate(pieces.all_pieces):
        if _ESCAPE_PATTERN.match(piece) and mergeable.can_be_merged(piece):
            yield Reason(f"decode: {piece!r} can be reached by merging text, and prints one byte", piece)
            break
        if spec.vocab.ids[row] == _LLAMA2C_BOS_ID and mergeable(piece):
            yield Reason(f"decode: the text {piece!r} becomes BOS, after which a space is removed", piece + b" a")


def _wrong_bytes(spec: Spec) -> list[int]:
    texts = dict(zip(spec.vocab.ids.tolist(), spec.vocab.pieces(), strict=True))
    texts_of_bytes = ((byte, texts.get(byte + _LLAMA2C_FIRST_BYTE_ID, b"")) for byte in range(256))
    return [byte for byte, text in texts_of_bytes if text.upper() != b"<0X%02X>" % byte]


class _MergeableEntries:
    """Decides whether merging can produce an entry. Only necessary conditions are checked, so only False is certain."""

    def __init__(self, pieces: list[bytes]) -> None:
        self.entries = set(pieces)
        self.results: dict[bytes, bool] = {}

    def __call__(self, piece: bytes) -> bool:
        """Reports whether the entry is a single character or can be merged."""
        return len(piece.decode(errors="replace")) == 1 or self.can_be_merged(piece)

    def can_be_merged(self, piece: bytes) -> bool:
        """Reports whether the piece splits into two entries each of which can be produced, or represents a byte."""
        if len(piece) > _MAX_EXAMINED_PIECE_BYTES:
            return True
        if piece not in self.results:
            self.results[piece] = any(
                self._can_be_half(piece[:at]) and self._can_be_half(piece[at:]) for at in range(1, len(piece))
            )
        return self.results[piece]

    def _can_be_half(self, half_piece: bytes) -> bool:
        return half_piece in self.entries and (self(half_piece) or _ESCAPE_PATTERN.match(half_piece) is not None)


# Examining the vocabulary and the character map


class _PieceSets:
    """The pieces of a vocabulary as sets: usable, reserved, user-defined, control and byte pieces."""

    def __init__(self, spec: Spec) -> None:
        self.vocab = spec.vocab
        self.all_pieces = spec.vocab.pieces()
        self.kinds: list[int] = spec.vocab.kinds.tolist()
        active_kinds = spec.vocab.active_kinds
        self.active_kinds: list[int] = self.kinds if active_kinds is None else active_kinds.tolist()

    @cached_property
    def usable_pieces(self) -> dict[bytes, None]:
        """The pieces that a text can produce."""
        rows = zip(self.all_pieces, self.kinds, self.active_kinds, strict=True)
        return {
            piece: None
            for piece, kind, active_kind in rows
            if kind not in _KINDS_OUTSIDE_TEXT and active_kind != Kind.UNUSED
        }

    @cached_property
    def reserved_pieces(self) -> set[bytes]:
        """The pieces that a text cannot produce."""
        return {piece for piece, kind in zip(self.all_pieces, self.kinds, strict=True) if kind in _KINDS_OUTSIDE_TEXT}

    @cached_property
    def user_defined_pieces(self) -> tuple[bytes, ...]:
        """The pieces that the character map does not change."""
        return tuple(self._pieces_of_kind(self.kinds, Kind.USER_DEFINED))

    @cached_property
    def control_pieces(self) -> list[bytes]:
        """The control symbols."""
        return self._pieces_of_kind(self.kinds, Kind.CONTROL)

    @cached_property
    def bytes_with_piece(self) -> set[int]:
        """The bytes that have a byte piece."""
        texts_of_bytes = (_BYTE_PIECE.fullmatch(piece) for piece in self._pieces_of_kind(self.active_kinds, Kind.BYTE))
        return {int(match[1], 16) for match in texts_of_bytes if match}

    @cached_property
    def unknown_character(self) -> bytes | None:
        """The highest character, by code point, that no piece contains."""
        characters_in_pieces = set(b"\n".join(self.all_pieces).decode(errors="replace"))
        codes = (code for code in range(_LAST_CHARACTER, 0, -1) if code not in _SURROGATES)
        return next((chr(code).encode() for code in codes if chr(code) not in characters_in_pieces), None)

    def _pieces_of_kind(self, kinds: list[int], wanted_kind: Kind) -> list[bytes]:
        return [piece for piece, kind in zip(self.all_pieces, kinds, strict=True) if kind == wanted_kind]


def _find_changed_key(charsmap: bytes, unchanged_prefixes: tuple[bytes, ...]) -> tuple[bytes, bytes] | None:
    """Finds a key of a character map whose value differs from the key; returns both, or None.

    The map is a trie stored as a double array (see reference/charsmap.py). Even in a damaged map, each unit of the
    array is visited at most once.
    """
    if len(charsmap) <= 4:
        return None
    end = 4 + int.from_bytes(charsmap[:4], "little")
    units = np.frombuffer(charsmap[4:end], dtype="<u4")
    value_texts = charsmap[end:]
    pending_nodes = [(b"", _child_offset(units[0]))]
    visited_indices: set[int] = set()
    while pending_nodes:
        key, index = pending_nodes.pop()
        if index in visited_indices:
            continue
        visited_indices.add(index)
        for label in _child_labels(units, index):
            unit = units[index ^ label]
            longer_key = key + bytes([label])
            child = (index ^ label) ^ _child_offset(unit)
            if unit & 0x100 and child < len(units):
                start = int(units[child] & 0x7FFF_FFFF)
                value = value_texts[start : value_texts.find(b"\0", start)]
                if value != longer_key and not longer_key.startswith(unchanged_prefixes or (b"\xff",)):
                    return longer_key, value
            pending_nodes.append((longer_key, child))
    return None


def _child_offset(unit: np.uint32) -> int:
    return (int(unit) >> 10) << (8 if int(unit) & 0x200 else 0)


def _child_labels(units: npt.NDArray[np.uint32], index: int) -> list[int]:
    """Returns the bytes that lead to a node's children, in descending order."""
    child_indices = index ^ np.arange(1, 256)
    inside_mask = child_indices < len(units)
    label_mask = np.zeros(255, dtype=bool)
    label_mask[inside_mask] = units[child_indices[inside_mask]] & 0x8000_00FF == np.flatnonzero(inside_mask) + 1
    labels: list[int] = (np.flatnonzero(label_mask) + 1).tolist()
    return labels[::-1]
