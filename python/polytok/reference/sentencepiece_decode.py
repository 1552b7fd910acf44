"""SentencePiece's decoding: converts pieces to text.

U+2581 is replaced with a space, and the space that encoding added in front is removed. The normalizer's flags decide
which space is removed: one leading U+2581 of every piece until the text is no longer empty
(``remove_extra_whitespaces``), or of the first piece only (``add_dummy_prefix`` alone). Runs of byte pieces are decoded
strictly: each byte that is not part of a character is replaced with U+FFFD. Any other piece ends a run, even a control
symbol.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from polytok.reference.sentencepiece_normalize import INVALID, normalize
from polytok.reference.utf8 import decode_strict
from polytok.reference.vocabulary import Vocabulary
from polytok.space_mark import SPACE_MARK_BYTES
from polytok.spec import Kind, SentencePieceDecode


def decode_pieces(vocab: Vocabulary, rules: SentencePieceDecode, pieces: Iterable[bytes]) -> bytes:
    """Returns the text of pieces without ids; if two entries have the same piece, the reserved entry counts."""
    return decode(
        vocab, rules, [(piece, vocab.reserved_ids.get(piece, vocab.normal_ids.get(piece))) for piece in pieces]
    )


def decode(vocab: Vocabulary, rules: SentencePieceDecode, pieces: Iterable[tuple[bytes, int | None]]) -> bytes:
    """Returns the text of pieces with their ids. A piece whose id is not in the vocabulary prints unchanged."""
    text = b"".join(piece_texts(vocab.active.get, rules, pieces))
    return text if rules.denormalize is None else normalize(rules.denormalize, text).text


def piece_texts(
    kind_of: Callable[[int], int | None], rules: SentencePieceDecode, pieces: Iterable[tuple[bytes, int | None]]
) -> Iterator[bytes]:
    """Yields the text that each piece prints. The last byte piece of a character prints the character."""
    byte_run = bytearray()
    can_strip = rules.add_dummy_prefix or rules.remove_extra_whitespaces
    is_at_start = True
    has_just_stripped = False
    for piece, id in pieces:
        kind = None if id is None else kind_of(id)
        if kind == Kind.BYTE:
            byte_run.append(int(piece[3:5], 16))
            continue
        is_at_start = is_at_start and not has_just_stripped and not byte_run
        yield from _run_texts(bytes(byte_run))
        byte_run.clear()
        has_just_stripped = False
        if kind is None:
            text = piece
        elif kind == Kind.UNKNOWN:
            text = rules.unk_surface
        elif kind == Kind.CONTROL:
            text = b""
        else:
            trimmed_piece = piece.removeprefix(SPACE_MARK_BYTES) if is_at_start and can_strip else piece
            has_just_stripped = trimmed_piece != piece and not rules.remove_extra_whitespaces
            text = trimmed_piece.replace(SPACE_MARK_BYTES, b" ")
        is_at_start = is_at_start and not text
        yield text
    yield from _run_texts(bytes(byte_run))


def _run_texts(byte_run: bytes) -> Iterator[bytes]:
    """Yields the text that each byte piece of a run prints; the characters of the run are valid UTF-8."""
    position = 0
    while position < len(byte_run):
        char, end = decode_strict(byte_run, position)
        yield from [b""] * (end - position - 1)
        yield INVALID if char is None else char.encode()
        position = end
