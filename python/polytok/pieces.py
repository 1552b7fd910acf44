"""Converts between pieces and ids, for one vocabulary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal, TypeAlias

from . import _core, checks
from .byte_level import BYTES
from .errors import ArgumentError, PieceError, TokenIdError
from .keywords import keyword
from .space_mark import SPACE_MARK

UnknownPiece: TypeAlias = Literal["error", "unk"] | int | None
"""What `polytok.Tokenizer.piece_to_id` does with a text that is not in the vocabulary; an int is the id to return."""


def ids_of_pieces(core: _core.Tokenizer, pieces: Any, unknown: object, unk_id: int | None) -> list[int | None]:
    """Returns the id of each piece; ``unk_id`` is the id of the unknown token, and ``unknown`` an `UnknownPiece`."""
    piece_list = checks.texts("pieces", pieces, "pieces")
    fallback = _fallback(unknown, unk_id)
    ids = [core.id_of(piece.encode() if isinstance(piece, str) else piece) for piece in piece_list]
    if unknown == "error" and None in ids:
        raise PieceError(_unknown_piece_message(core, piece_list[ids.index(None)]))
    return ids if fallback is None else [fallback if id is None else id for id in ids]


def pieces_of_ids(core: _core.Tokenizer, ids: Iterable[int | None]) -> list[bytes | None]:
    """Returns the piece of each id, and None for None."""
    id_list = list(checks.iterable("ids", ids, "ids"))
    try:
        return [None if id is None else core.token_bytes(id) for id in id_list]
    except TokenIdError as error:
        if -1 not in id_list:
            raise
        advice = "the piece of None is None, so use unknown=None in place of unknown=-1 for lists of both"
        raise TokenIdError(f"{error}; {advice}") from None


def _fallback(unknown: object, unk_id: int | None) -> int | None:
    """Returns the id of pieces that are not in the vocabulary."""
    if isinstance(unknown, int) and not isinstance(unknown, bool):
        return unknown
    if unknown not in ("error", "unk", None):
        raise ArgumentError(
            f"{keyword(f'unknown={checks.shown(unknown)}')} is not one of 'error', 'unk', None, or an id such as -1"
        )
    if unknown == "unk" and unk_id is None:
        raise ArgumentError(
            "the vocabulary has no unknown token; use unknown=None for None, unknown=-1 for -1, or unknown='error'"
        )
    return unk_id if unknown == "unk" else None


def _unknown_piece_message(core: _core.Tokenizer, piece: str | bytes) -> str:
    message = f"{piece!r} is not a piece of the vocabulary"
    for spelling in _other_spellings(piece) if isinstance(piece, str) else ():
        if core.id_of(spelling.encode()) is not None:
            reason = "" if SPACE_MARK in spelling else ", because the pieces of this vocabulary are the text itself"
            return f"{message}; write {spelling!r}{reason}"
    return message


def _other_spellings(piece: str) -> Iterator[str]:
    """Yields how other packages write a piece: with GPT-2's characters for bytes, or with U+2581 for spaces."""
    if piece and all(character in BYTES for character in piece):
        text = bytes(BYTES[character] for character in piece).decode(errors="replace")
        if "\ufffd" not in text:
            yield text
    yield piece.replace(SPACE_MARK, " ")
    yield piece.replace(" ", SPACE_MARK)
