"""Finds texts that could be encoded to given ids.

If decoding restores every text, the only such text is the decoded one. Otherwise, several texts are written from the
pieces, because decoding is not always the reverse of encoding: it removes the space that encoding adds, prints unknown
tokens as ``<unk>``, or removes spaces before punctuation. The caller encodes each text, so a text that is wrong here
only costs time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from . import _core
from .byte_level import BYTES
from .errors import PolytokError
from .lossless import lossless
from .space_mark import SPACE_MARK_BYTES
from .spec import (
    ByteLevel,
    Kind,
    Metaspace,
    Replace,
    SentencePieceNormalize,
    Spec,
    UgmNormalize,
    Word,
    WordLevel,
    WordPiece,
)
from .token_bytes import BYTE_PIECE

# Characters of rare scripts, private characters and unassigned ones: one of them is unknown to most vocabularies.
_RARE_CHARACTERS = ("\U0010fffd", "\ue000", "\U00010330", "\ua66e", "\u0378", "\u4e02", "\u0f00", "\u00e9", "z")
# The score of a longer unknown text is rounded in another way, which decides between segmentations of equal scores.
_UNKNOWN_LENGTHS = (1, 2, 3, 8)


class Preimages:
    """Writes texts for the ids of one tokenizer."""

    __slots__ = ("_core", "_is_lossless", "_piece_writer", "_spec")

    def __init__(self, spec: Spec, core: _core.Tokenizer) -> None:
        self._spec = spec
        self._core = core
        self._is_lossless = lossless(spec).for_bytes
        self._piece_writer: _PieceWriter | None = None

    def texts(self, ids: Sequence[int]) -> Iterator[bytes]:
        """Yields different texts that could be encoded to ``ids``, the most probable first."""
        decoded = self._core.decode_bytes(ids, False)
        yield decoded
        if not self._is_lossless:
            seen_texts = {decoded}
            for text in self._written_texts(ids):
                if text not in seen_texts:
                    seen_texts.add(text)
                    yield text

    def _written_texts(self, ids: Sequence[int]) -> Iterator[bytes]:
        if self._piece_writer is None:
            self._piece_writer = _PieceWriter(self._spec, self._core)
        writer = self._piece_writer
        has_unknown = not writer.unknown_ids.isdisjoint(ids)
        for length in _UNKNOWN_LENGTHS[: None if has_unknown else 1]:
            for with_spaces in (True, False):
                text = b"".join([writer.text(id, length, with_spaces) for id in ids])
                yield text
                for space in (b" ", *writer.space_marks):  # encoding adds it
                    if text.startswith(space):
                        yield text[len(space) :]


class _PieceWriter:
    """Converts pieces to the text from which the steps before the model make them."""

    def __init__(self, spec: Spec, core: _core.Tokenizer) -> None:
        steps = (*spec.normalize, *spec.split)
        self._model = spec.model
        self._core = core
        self._prefix = getattr(spec.model, "continuing_prefix", "").encode()
        self._suffix = getattr(spec.model, "word_suffix", "").encode()
        self._is_byte_level = any(isinstance(step, ByteLevel) for step in steps)
        self.space_marks = [mark.encode() for step in steps if (mark := _space_mark(step))]
        vocab = spec.vocab
        kinds = vocab.kinds.tolist()
        rows = list(zip(vocab.ids.tolist(), kinds, strict=True))
        self.unknown_ids = frozenset(id for id, kind in rows if kind == Kind.UNKNOWN)
        self._byte_ids = frozenset(id for id, kind in rows if kind == Kind.BYTE)
        self._has_byte_fallback = getattr(spec.model, "byte_fallback", False)
        self._unknown_text = self._find_unknown_text()
        self._texts: dict[tuple[int, bool], bytes] = {}

    def text(self, id: int, unknown_length: int, with_spaces: bool) -> bytes:
        """Returns the text of an id; an unknown one is ``unknown_length`` unknown characters.

        The marks of spaces are written as spaces if ``with_spaces`` is set, and as the marks themselves otherwise.
        """
        if id in self.unknown_ids and self._unknown_text:
            space = b" " if isinstance(self._model, (Word, WordLevel, WordPiece)) else b""
            return space + self._unknown_text * unknown_length
        key = (id, with_spaces)
        if key not in self._texts:
            self._texts[key] = self._written(id, with_spaces)
        return self._texts[key]

    def _written(self, id: int, with_spaces: bool) -> bytes:
        piece = self._core.token_bytes(id)
        if (id in self._byte_ids or self._has_byte_fallback) and (byte := BYTE_PIECE.fullmatch(piece)):
            return bytes([int(byte[1], 16)])
        piece = self._written_word(piece)
        if self._is_byte_level:
            characters = piece.decode(errors="replace")
            piece = b"".join(
                [bytes([BYTES[character]]) if character in BYTES else character.encode() for character in characters]
            )
        for mark in self.space_marks if with_spaces else ():
            piece = piece.replace(mark, b" ")
        return piece

    def _written_word(self, piece: bytes) -> bytes:
        """Returns the piece of a model of words with a space where the word begins or ends."""
        if isinstance(self._model, WordPiece) and self._model.phantom_space:
            return piece.replace(SPACE_MARK_BYTES, b" ", 1)
        if isinstance(self._model, WordLevel):
            return b" " + piece
        if self._prefix:
            return piece.removeprefix(self._prefix) if piece.startswith(self._prefix) else b" " + piece
        if self._suffix and piece.endswith(self._suffix):
            return piece.removesuffix(self._suffix) + b" "
        return piece

    def _find_unknown_text(self) -> bytes:
        """Returns a character that is encoded to the unknown token, or b"" if there is none among the rare ones."""
        for character in _RARE_CHARACTERS if self.unknown_ids else ():
            try:
                ids = self._core.encode(character)
            except PolytokError:
                continue
            if self.unknown_ids.intersection(ids):
                return character.encode()
        return b""


def _space_mark(step: object) -> str:
    """Returns the text that a step writes for a space, or an empty text."""
    match step:
        case SentencePieceNormalize(escape_whitespaces=True) | UgmNormalize():
            return SPACE_MARK_BYTES.decode()
        case Replace(pattern=" ", content=content):
            return content
        case Metaspace(replacement=replacement):
            return replacement
    return ""
