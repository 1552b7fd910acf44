"""Decides whether decoding restores every text: ``decode_bytes(encode(text)) == text``.

The Spec alone decides it, for plain encoding (no special tokens recognised or added), in two grades: for every valid
UTF-8 text, and for every sequence of bytes. The rule follows the pipeline; each step either is undone by its decode
step or adds a `Reason`. It is cautious: a step that is not known to be lossless is a reason, so "yes" can be relied on.

* normalize: a character map that changes a text, spaces removed, spaces written as U+2581 (so that a U+2581 of the text
  comes back as a space), a space added in front or at the end that decoding does not remove. If decoding removes
  exactly the one space added in front, that is not a loss.
* split: a pattern that drops text (see pattern_coverage.py).
* model and unknown: characters or bytes that the vocabulary does not have and that no byte piece represents.
* decode: a space removed that encoding did not add, pieces whose text reads as an escape, a denormalizer.
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
    Char,
    Kind,
    Llama2cDecode,
    PatternSplit,
    PrefixSpace,
    SentencePieceDecode,
    SentencePieceNormalize,
    Spec,
    SplitStep,
    Unigram,
    Word,
)

_RESERVED = (Kind.UNKNOWN, Kind.CONTROL, Kind.BYTE)
_LAST_CHARACTER = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)
# The bytes that never occur in valid UTF-8.
_NEVER_IN_UTF8 = frozenset((0xC0, 0xC1, *range(0xF5, 0x100)))
_ESCAPE = re.compile(rb"<0x[0-9A-Fa-f]")
_BYTE_PIECE = re.compile(rb"<0x([0-9A-F]{2})>")
_LONGEST_LOOKED_INTO = 64
_LLAMA2C_FIRST_BYTE = 3
_LLAMA2C_BOS = 1


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason why a text can change, and an example of such a text, if one is known.

    ``valid_utf8`` says that valid UTF-8 is concerned; otherwise only other bytes are.
    """

    what: str
    example: bytes | None = None
    valid_utf8: bool = True

    def __str__(self) -> str:
        return self.what


@dataclass(frozen=True, slots=True)
class Lossless:
    """Whether decoding restores every text, and all reasons why not. True if every valid UTF-8 text is restored."""

    reasons: tuple[Reason, ...]

    @property
    def for_text(self) -> bool:
        """Whether every valid UTF-8 text is restored."""
        return not any(reason.valid_utf8 for reason in self.reasons)

    @property
    def for_bytes(self) -> bool:
        """Whether every sequence of bytes is restored."""
        return not self.reasons

    def __bool__(self) -> bool:
        return self.for_text


def lossless(spec: Spec) -> Lossless:
    """Whether decoding restores what was encoded.

    >>> from polytok.spec import Longest, Vocab
    >>> bool(lossless(Spec(Vocab.from_rows((bytes([b]), b, 0.0, Kind.NORMAL) for b in range(256)), Longest())))
    True
    """
    return Lossless(tuple(_reasons(spec)))


def _reasons(spec: Spec) -> Iterator[Reason]:
    for split in spec.split:
        yield from _split_reasons(split)
    match spec.normalize, spec.decode:
        case (), BytesDecode():
            yield from _bytes_reasons(spec)
        case (PrefixSpace(),), Llama2cDecode():
            yield from _llama2c_reasons(spec)
        case (SentencePieceNormalize() as step,), SentencePieceDecode() as decode:
            yield from _sentencepiece_reasons(spec, step, decode)
        case _:
            steps = " and ".join(step.kind for step in spec.normalize) or "nothing"
            yield Reason(f"decode: {spec.decode.kind} is not known to undo what normalize does ({steps})")


def _split_reasons(step: SplitStep) -> Iterator[Reason]:
    if not isinstance(step, PatternSplit):
        yield Reason(f"split: {step.kind} may rewrite pieces")
    elif step.behavior == "removed" or (step.behavior == "matches" and step.invert):
        yield Reason("split: what the pattern matches is dropped")
    elif step.behavior == "matches" and not covers_all_text(step):
        yield Reason("split: the pattern is not known to match all text, and what it does not match is dropped")


# Pieces that are concatenated unchanged: tiktoken, minbpe, RWKV


def _bytes_reasons(spec: Spec) -> Iterator[Reason]:
    """Merging bytes, or looking for the longest entry, starts from the entries of one byte."""
    if isinstance(spec.model, (Bpe, Unigram, Word, Char)) and not _merges_bytes(spec):
        yield Reason(f"model: {spec.model.kind} is not known to cover all text without SentencePiece's decoding")
        return
    present = {piece[0] for piece in _Pieces(spec).usable if len(piece) == 1}
    missing = sorted(set(range(256)) - present)
    lacking = [byte for byte in missing if byte not in _NEVER_IN_UTF8]
    if lacking:
        example = bytes([lacking[0]]) if lacking[0] < 0x80 else None
        yield Reason(f"vocab: {_listed(lacking)} has no entry, so text with it is an error", example)
    if never := [byte for byte in missing if byte in _NEVER_IN_UTF8]:
        yield Reason(f"vocab: {_listed(never)} has no entry", bytes([never[0]]), valid_utf8=False)


def _merges_bytes(spec: Spec) -> bool:
    return isinstance(spec.model, Bpe) and spec.model.symbols == "bytes"


def _listed(values: list[int]) -> str:
    more = f" and {len(values) - 1} more" if len(values) > 1 else ""
    return f"byte 0x{values[0]:02X}{more}"


# SentencePiece


def _sentencepiece_reasons(spec: Spec, step: SentencePieceNormalize, decode: SentencePieceDecode) -> Iterator[Reason]:
    pieces = _Pieces(spec)
    yield from _rewriting(step, pieces.user_defined, "normalize")
    yield from _dummy_space(step, decode)
    yield from _marks(step, pieces)
    if spec.unknown == "bytes":
        yield from _byte_fallback(spec, step, pieces)
    else:
        yield from _unknown_characters(spec, pieces, decode)
    if spec.line == "0.2.1":
        yield from _names(spec, pieces)
    if decode.denormalize is not None:
        yield from _denormalizer(decode.denormalize)
    yield Reason("normalize: bytes that are not UTF-8 become U+FFFD", b"\xff", valid_utf8=False)


def _rewriting(step: SentencePieceNormalize, user_defined: tuple[bytes, ...], stage: str) -> Iterator[Reason]:
    if changed := _changed_by(step.charsmap, user_defined):
        key, value = (text.decode(errors="backslashreplace") for text in changed)
        yield Reason(f"{stage}: the character map rewrites text ({key!a} becomes {value!a})", changed[0])
    if step.remove_extra_whitespaces:
        yield Reason(f"{stage}: remove_extra_whitespaces drops spaces at both ends and all but one of a run", b" a  b ")


def _dummy_space(step: SentencePieceNormalize, decode: SentencePieceDecode) -> Iterator[Reason]:
    """The space that encoding adds in front, and the one that decoding removes."""
    takes = decode.add_dummy_prefix or decode.remove_extra_whitespaces
    if step.add_dummy_prefix and step.whitespace_as_suffix:
        yield Reason("normalize: the space put behind the text is not taken away by decoding", b"a")
    elif step.add_dummy_prefix and not (step.escape_whitespaces and takes):
        yield Reason("normalize: the space put in front of the text is not taken away by decoding", b"a")
    elif takes and not step.add_dummy_prefix and step.escape_whitespaces and not step.remove_extra_whitespaces:
        yield Reason("decode: a space at the start is taken away, but none was put there", b" a")
    elif decode.remove_extra_whitespaces and not step.remove_extra_whitespaces:
        yield Reason("decode: several spaces at the start may be taken away, where one was put")


def _marks(step: SentencePieceNormalize, pieces: _Pieces) -> Iterator[Reason]:
    marked = min((piece for piece in pieces.usable if SPACE_MARK_BYTES in piece), key=len, default=None)
    if marked is None:
        return
    if step.escape_whitespaces:
        yield Reason("normalize: a space is written as U+2581, so U+2581 comes back as a space", b"a" + marked)
    else:
        yield Reason("decode: U+2581 in a piece comes back as a space", marked)


def _byte_fallback(spec: Spec, step: SentencePieceNormalize, pieces: _Pieces) -> Iterator[Reason]:
    """Byte pieces print the normalized text, where a space can be a U+2581."""
    stranger = pieces.stranger
    if missing := sorted(set(range(256)) - pieces.fallback - _NEVER_IN_UTF8):
        yield Reason(f"unknown: {_listed(missing)} has no active byte piece", stranger)
    if isinstance(spec.model, Word):
        if step.escape_whitespaces and stranger:
            yield Reason("unknown: a word without entry becomes its bytes, with its space as U+2581", b"a " + stranger)
    elif step.escape_whitespaces and SPACE_MARK_BYTES not in pieces.usable and stranger:
        yield Reason("vocab: U+2581 has no entry, so a space comes back as U+2581", b"a " + stranger)


def _unknown_characters(spec: Spec, pieces: _Pieces, decode: SentencePieceDecode) -> Iterator[Reason]:
    if pieces.stranger is None:
        return
    what = "words" if isinstance(spec.model, Word) else "characters"
    surface = decode.unk_surface.decode(errors="backslashreplace")
    outcome = "are an error" if spec.unknown == "error" else f"become the unknown piece, which prints {surface!r}"
    yield Reason(f"unknown: {what} without entry {outcome}", pieces.stranger)


def _names(spec: Spec, pieces: _Pieces) -> Iterator[Reason]:
    """SentencePiece 0.2.1 finds control symbols in text, and fails; and it decodes ids by the names of their pieces."""
    for piece in pieces.control:
        is_unit = isinstance(spec.model, Word) or len(piece.decode(errors="replace")) == 1
        if is_unit and not isinstance(spec.model, Unigram):
            yield Reason(f"model: the control symbol {piece!r} in text is an error in SentencePiece 0.2.1", piece)
            break
    if twin := next((piece for piece in pieces.usable if piece in pieces.reserved), None):
        yield Reason(f"decode: {twin!r} is also a reserved piece, as which SentencePiece 0.2.1 decodes it", twin)


def _denormalizer(step: SentencePieceNormalize) -> Iterator[Reason]:
    yield from _rewriting(step, (), "decode: denormalizer")
    if step.add_dummy_prefix:
        yield Reason("decode: denormalizer: a space is put in front of the text", b"a")
    if step.escape_whitespaces:
        yield Reason("decode: denormalizer: spaces become U+2581", b"a b")


# llama2.c


def _llama2c_reasons(spec: Spec) -> Iterator[Reason]:
    """Text becomes entries or raw bytes; both print unchanged, except for the escapes and the first space."""
    pieces = _Pieces(spec)
    if not isinstance(spec.model, Bpe) or spec.model.symbols != "groups" or spec.unknown != "bytes":
        yield Reason("model: only llama2.c's own is known to go with llama2.c's decoding")
        return
    if b" " not in pieces.all:
        yield Reason("vocab: a space has no entry, so the one put in front is not taken away", b"a")
    if wrong := _wrong_bytes(spec):
        yield Reason(f"vocab: {_listed(wrong)} does not have the id {wrong[0]} + {_LLAMA2C_FIRST_BYTE}")
    reachable = _Reachable(pieces.all)
    for row, piece in enumerate(pieces.all):
        if _ESCAPE.match(piece) and reachable.by_merging(piece):
            yield Reason(f"decode: {piece!r} can be reached by merging text, and prints one byte", piece)
            break
        if spec.vocab.ids[row] == _LLAMA2C_BOS and reachable(piece):
            yield Reason(f"decode: the text {piece!r} becomes BOS, after which a space is taken away", piece + b" a")


def _wrong_bytes(spec: Spec) -> list[int]:
    texts = dict(zip(spec.vocab.ids.tolist(), spec.vocab.pieces(), strict=True))
    named = ((byte, texts.get(byte + _LLAMA2C_FIRST_BYTE, b"")) for byte in range(256))
    return [byte for byte, text in named if text.upper() != b"<0X%02X>" % byte]


class _Reachable:
    """Whether merging pairs can produce an entry. The conditions are necessary, so False is certain."""

    def __init__(self, pieces: list[bytes]) -> None:
        self.entries = set(pieces)
        self.known: dict[bytes, bool] = {}

    def __call__(self, piece: bytes) -> bool:
        """Whether the entry is produced by merging, or as a character."""
        return len(piece.decode(errors="replace")) == 1 or self.by_merging(piece)

    def by_merging(self, piece: bytes) -> bool:
        """Whether two entries form the piece, and each of them can be produced or represents a byte."""
        if len(piece) > _LONGEST_LOOKED_INTO:
            return True
        if piece not in self.known:
            self.known[piece] = any(
                self._may_start(piece[:at]) and self._may_start(piece[at:]) for at in range(1, len(piece))
            )
        return self.known[piece]

    def _may_start(self, part: bytes) -> bool:
        return part in self.entries and (self(part) or _ESCAPE.match(part) is not None)


# Examining the vocabulary and the character map


class _Pieces:
    """The pieces of a vocabulary by how text can reach them."""

    def __init__(self, spec: Spec) -> None:
        self.vocab = spec.vocab
        self.all = spec.vocab.pieces()
        self.kinds: list[int] = spec.vocab.kinds.tolist()
        active = spec.vocab.active_kinds
        self.active: list[int] = self.kinds if active is None else active.tolist()

    @cached_property
    def usable(self) -> dict[bytes, None]:
        """The pieces that text can produce."""
        rows = zip(self.all, self.kinds, self.active, strict=True)
        return {piece: None for piece, kind, active in rows if kind not in _RESERVED and active != Kind.UNUSED}

    @cached_property
    def reserved(self) -> set[bytes]:
        """The pieces that text cannot produce."""
        return {piece for piece, kind in zip(self.all, self.kinds, strict=True) if kind in _RESERVED}

    @cached_property
    def user_defined(self) -> tuple[bytes, ...]:
        """The pieces that the character map does not change."""
        return tuple(self._of(self.kinds, Kind.USER_DEFINED))

    @cached_property
    def control(self) -> list[bytes]:
        """The control symbols."""
        return self._of(self.kinds, Kind.CONTROL)

    @cached_property
    def fallback(self) -> set[int]:
        """The bytes that have a byte piece."""
        named = (_BYTE_PIECE.fullmatch(piece) for piece in self._of(self.active, Kind.BYTE))
        return {int(found[1], 16) for found in named if found}

    @cached_property
    def stranger(self) -> bytes | None:
        """A character that no piece contains; the one with the highest number."""
        seen = set(b"\n".join(self.all).decode(errors="replace"))
        codes = (code for code in range(_LAST_CHARACTER, 0, -1) if code not in _SURROGATES)
        return next((chr(code).encode() for code in codes if chr(code) not in seen), None)

    def _of(self, kinds: list[int], wanted: Kind) -> list[bytes]:
        return [piece for piece, kind in zip(self.all, kinds, strict=True) if kind == wanted]


def _changed_by(charsmap: bytes, untouched: tuple[bytes, ...]) -> tuple[bytes, bytes] | None:
    """A key of a character map that maps to something else, and its value; None if there is none.

    The map is a double array (see reference/charsmap.py). Each unit is visited once, whatever the blob contains.
    """
    if len(charsmap) <= 4:
        return None
    end = 4 + int.from_bytes(charsmap[:4], "little")
    units = np.frombuffer(charsmap[4:end], dtype="<u4")
    strings = charsmap[end:]
    pending = [(b"", _children(units[0]))]
    visited: set[int] = set()
    while pending:
        key, place = pending.pop()
        if place in visited:
            continue
        visited.add(place)
        for label in _labels(units, place):
            unit = units[place ^ label]
            longer = key + bytes([label])
            below = (place ^ label) ^ _children(unit)
            if unit & 0x100 and below < len(units):
                start = int(units[below] & 0x7FFF_FFFF)
                value = strings[start : strings.find(b"\0", start)]
                if value != longer and not longer.startswith(untouched or (b"\xff",)):
                    return longer, value
            pending.append((longer, below))
    return None


def _children(unit: np.uint32) -> int:
    return (int(unit) >> 10) << (8 if int(unit) & 0x200 else 0)


def _labels(units: npt.NDArray[np.uint32], place: int) -> list[int]:
    """The bytes of a node's children, the highest first."""
    places = place ^ np.arange(1, 256)
    inside = places < len(units)
    found = np.zeros(255, dtype=bool)
    found[inside] = units[places[inside]] & 0x8000_00FF == np.flatnonzero(inside) + 1
    labels: list[int] = (np.flatnonzero(found) + 1).tolist()
    return labels[::-1]
