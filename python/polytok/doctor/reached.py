"""Finds entries that no encoding contains, by encoding each entry alone and between other characters.

An entry is reached if the encoding of any text contains its id, so a reached entry is certainly not reported. An entry
that is not reached can still have a text that was not tried; the model's own rules prove more (entries.py).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from itertools import product
from typing import NamedTuple, TypeAlias

import numpy as np

from ..errors import PolytokError
from ..reach import ids_or_nothing, unused_after_space
from ..spec import Kind, Longest, Spec
from ..tokenizer import Tokenizer
from ..utf8 import is_utf8, text_or_bytes
from .entries import ADDED_WORDS_ADVICE, unreachable_ids
from .finding import Finding, Severity

_BEFORE = (b"", b"a", b" ", b"\n", b"1", b".", b"A", "の".encode(), b"a ", b"\n\n")
_AFTER = (b"", *(bytes([byte]) for byte in b"abcdefghijklmnopqrstuvwxyz"), b" ", b"\n", b"1", b".")
_MAX_EXAMPLES = 3
_REPLACEMENT = "\ufffd".encode()
_CONTINUATIONS = [bytes([byte]) for byte in range(0x80, 0xC0)]
_SOME_CONTINUATIONS = _CONTINUATIONS[::16]
_ContinuationBytes: TypeAlias = "tuple[list[bytes], ...]"
_FOLLOWING_BYTES: tuple[_ContinuationBytes, ...] = (
    (_SOME_CONTINUATIONS, _SOME_CONTINUATIONS, _SOME_CONTINUATIONS),
    (_CONTINUATIONS, _SOME_CONTINUATIONS, _SOME_CONTINUATIONS),
    (_CONTINUATIONS, _CONTINUATIONS, _SOME_CONTINUATIONS),
)
"""The bytes that are tried as the first, second and third missing byte of a character, in turn."""
_LEAD_BYTES = [bytes([byte]) for byte in range(0xC2, 0xF5)]
_LENGTH_OF_LEAD_BYTE = {byte: 2 + (byte >= 0xE0) + (byte >= 0xF0) for byte in range(0xC2, 0xF5)}


class UnreachedEntry(NamedTuple):
    """An entry that was not reached, and the pieces to which its text is encoded instead."""

    id: int
    piece: bytes
    encoded_pieces: tuple[bytes, ...]

    def __str__(self) -> str:
        pieces = ", ".join(repr(text_or_bytes(piece)) for piece in self.encoded_pieces) or "nothing"
        note = " with another id" if self.encoded_pieces == (self.piece,) else ""
        return f"{text_or_bytes(self.piece)!r} gives {pieces}{note}"


def find_unreached(spec: Spec) -> Iterator[Finding]:
    """Finds entries that do not encode to themselves, alone or between letters, digits, white space and punctuation."""
    tokenizer = Tokenizer(spec)
    table = tokenizer.vocab()
    candidates = _candidates(spec, tokenizer)
    entries = unreached_entries(tokenizer, candidates)
    if entries:
        examples = "; ".join(map(str, entries[:_MAX_EXAMPLES])) + ("; ..." if len(entries) > _MAX_EXAMPLES else "")
        yield Finding(
            "entry-not-reached",
            Severity.NOTE,
            f"{len(entries)} of {len(table)} entries do not encode to themselves, alone or between letters, digits, "
            f"white space and punctuation ({examples})",
            "nothing, if they are inserted by id; otherwise the normalizer, the split or other entries prevent them"
            + ("" if isinstance(spec.model, Longest) else f". {ADDED_WORDS_ADVICE}"),
        )


def find_unused_symbols(spec: Spec) -> Iterator[Finding]:
    """Finds entries of longest match that begin with punctuation or a symbol and are not used after a space."""
    if not isinstance(spec.model, Longest):
        return
    symbols = [piece for piece in spec.vocab.pieces() if _is_symbol(piece)]
    usage = unused_after_space(Tokenizer(spec), symbols)
    if usage.unused:
        yield Finding(
            "not-used-after-space",
            Severity.NOTE,
            f"of the entries that begin with punctuation or a symbol: {usage}",
            "nothing, if they are parts of program code; for emoji and kaomoji add the entries with a space before "
            "them: polytok edit --add-symbols FILE",
        )


def _is_symbol(piece: bytes) -> bool:
    """Reports whether a piece is a text of two or more characters that begins with punctuation or a symbol."""
    text = piece.decode(errors="replace")
    return len(text) > 1 and unicodedata.category(text[0])[0] in "PS" and "\ufffd" not in text


def unreached_entries(tokenizer: Tokenizer, ids: Iterable[int]) -> list[UnreachedEntry]:
    """Returns the entries with these ids that were not reached.

    Parts of characters are completed to characters. Entries are skipped if decoding replaces such parts with U+FFFD.
    """
    texts = _texts_of_ids(tokenizer, ids)
    remaining_ids = {id for id, text in texts.items() if _REPLACEMENT not in text}
    for before, after in product(_BEFORE, _AFTER):
        remaining_ids -= _ids_in_encodings(tokenizer, [before + texts[id] + after for id in remaining_ids])
        # SentencePiece adds a space to the start of a text, so an entry can need its text without the space.
        stripped_texts = [texts[id].lstrip(b" ") for id in remaining_ids if texts[id].startswith(b" ")]
        remaining_ids -= _ids_in_encodings(tokenizer, [before + text + after for text in stripped_texts])
    incomplete_ids = [id for id in remaining_ids if not is_utf8(texts[id])]
    for followings in _FOLLOWING_BYTES:
        completed_texts = [text for id in incomplete_ids for text in _completed_texts(texts[id], followings)]
        probes = [text + after for text in completed_texts for after in (b"", b"a")]
        remaining_ids -= _ids_in_encodings(tokenizer, probes)
        incomplete_ids = [id for id in incomplete_ids if id in remaining_ids]
    return [_unreached_entry(tokenizer, id, texts[id]) for id in sorted(remaining_ids)]


def _candidates(spec: Spec, tokenizer: Tokenizer) -> list[int]:
    """Returns the ids of the entries that texts should produce.

    Excluded are special tokens, byte pieces, single bytes, entries that repeat an earlier one, and entries that the
    model's own rules exclude, which are findings of their own.
    """
    excluded_texts = {b"<0x%02X>" % byte for byte in range(256)}
    excluded_ids = set(unreachable_ids(spec))
    normal_kind = Kind.NORMAL  # to find the member of an enumeration is slow in Python 3.11
    ids = []
    for entry in tokenizer.vocab():
        is_ordinary = entry.kind == normal_kind and not entry.special and len(entry.piece) > 1
        if is_ordinary and entry.piece not in excluded_texts and entry.id not in excluded_ids:
            excluded_texts.add(entry.piece)
            ids.append(entry.id)
    return ids


def _texts_of_ids(tokenizer: Tokenizer, ids: Iterable[int]) -> dict[int, bytes]:
    """Returns the text that decoding adds for each id after the id of a letter."""
    letter_ids = ids_or_nothing(tokenizer, b"a")[-1:]
    letter = tokenizer.decode_bytes(letter_ids)
    texts = {}
    for id in ids:
        text = tokenizer.decode_bytes([*letter_ids, id])
        texts[id] = text[len(letter) :] if text.startswith(letter) else tokenizer.decode_bytes([id])
    return texts


def _ids_in_encodings(tokenizer: Tokenizer, texts: list[bytes]) -> set[int]:
    """Returns all ids in the encodings of texts, without the texts that the vocabulary cannot cover."""
    try:
        return set(np.unique(tokenizer.encode_batch(texts).ids).tolist())
    except PolytokError:
        if len(texts) == 1:
            return set()
        middle = len(texts) // 2
        return _ids_in_encodings(tokenizer, texts[:middle]) | _ids_in_encodings(tokenizer, texts[middle:])


def _unreached_entry(tokenizer: Tokenizer, id: int, text: bytes) -> UnreachedEntry:
    encoded_pieces = tokenizer.ids_to_pieces(ids_or_nothing(tokenizer, text))
    return UnreachedEntry(id, tokenizer.id_to_piece(id), tuple(encoded_pieces))


# Entries with parts of characters


def _completed_texts(text: bytes, followings: _ContinuationBytes) -> list[bytes]:
    """Returns texts in UTF-8 that contain a text whose first and last characters are incomplete."""
    start = next((i for i, byte in enumerate(text[:4]) if not 0x80 <= byte < 0xC0), min(len(text), 4))
    end = next((i for i in range(len(text) - 1, max(len(text) - 4, -1), -1) if text[i] in _LENGTH_OF_LEAD_BYTE), None)
    missing_count = 0 if end is None else max(_LENGTH_OF_LEAD_BYTE[text[end]] - (len(text) - end), 0)
    endings = map(b"".join, product(*followings[:missing_count]))
    candidates = [before + text + after for before, after in product(_beginnings(start), endings)]
    return list(filter(is_utf8, candidates))


def _beginnings(count: int) -> list[bytes]:
    """Returns the bytes that can come before ``count`` continuation bytes at the start of a text."""
    if count == 0:
        return [b""]
    return [
        lead + b"".join(others)
        for lead in _LEAD_BYTES
        if _LENGTH_OF_LEAD_BYTE[lead[0]] > count
        for others in product(_SOME_CONTINUATIONS, repeat=_LENGTH_OF_LEAD_BYTE[lead[0]] - 1 - count)
    ]
