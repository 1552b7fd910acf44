"""The results with pieces: their bytes as protobuf messages, and 0.2.1's immutable objects."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, NamedTuple, TypeVar, overload

T = TypeVar("T")

_SMALL_VARINTS = [bytes((number,)) for number in range(128)]


class Piece(NamedTuple):
    """A piece of a text: the piece, its id, and the span of bytes that it covers."""

    piece: bytes
    id: int
    begin: int
    end: int
    has_surface: bool = True


class PiecesOfText(NamedTuple):
    """A text with its pieces, and the score of this segmentation if it has one."""

    text: bytes
    pieces: list[Piece]
    score: float | None = None

    def surface(self, piece: Piece) -> bytes:
        """Returns the text that a piece covers."""
        return self.text[piece.begin : piece.end]

    def serialize(self, spans: list[Piece] | None = None) -> bytes:
        """Returns the bytes of the message SentencePieceText. ``spans`` are the pieces with other offsets to write.

        >>> PiecesOfText(b"a", [Piece(b"a", 19, 0, 1)]).serialize()
        b'\\n\\x01a\\x12\\x0c\\n\\x01a\\x10\\x13\\x1a\\x01a \\x00(\\x01'
        """
        parts = [field(b"\x0a", self.text)]
        for piece, span in zip(self.pieces, spans or self.pieces, strict=True):
            parts.append(
                field(
                    b"\x12",
                    b"%b\x10%b%b\x20%b\x28%b"
                    % (
                        field(b"\x0a", piece.piece),
                        varint(piece.id),
                        field(b"\x1a", self.surface(piece)) if piece.has_surface else b"",
                        varint(span.begin),
                        varint(span.end),
                    ),
                )
            )
        if self.score is not None:
            parts.append(b"\x1d" + struct.pack("<f", self.score))
        return b"".join(parts)

    def character_offsets(self) -> list[tuple[int, int]]:
        """Returns the spans of the pieces in characters of the text."""
        if self.text.isascii():
            return [(piece.begin, piece.end) for piece in self.pieces]
        count = 0
        characters = [0]
        for byte in self.text[1:]:
            count += byte & 0xC0 != 0x80
            characters.append(count)
        characters.append(count + 1)
        return [(characters[piece.begin], characters[piece.end]) for piece in self.pieces]


def serialize_nbest(results: Iterable[PiecesOfText]) -> bytes:
    """Returns the bytes of the message NBestSentencePieceText."""
    return b"".join(field(b"\x0a", result.serialize()) for result in results)


def field(tag: bytes, content: bytes) -> bytes:
    """Returns a field of a message that contains bytes."""
    return b"%b%b%b" % (tag, varint(len(content)), content)


def varint(number: int) -> bytes:
    """Returns a number as protobuf writes it.

    >>> varint(300)
    b'\\xac\\x02'
    """
    if number < 128:
        return _SMALL_VARINTS[number]
    if number < 16384:
        return bytes((number & 127 | 128, number >> 7))
    digits = bytearray()
    while number >= 128:
        digits.append(number & 127 | 128)
        number >>= 7
    digits.append(number)
    return bytes(digits)


class ImmutableItems(Sequence[T], Generic[T]):
    """The pieces of an immutable text, or the texts of an immutable list of results."""

    def __init__(self, name: str, items: list[T]) -> None:
        self._name, self._items, self.len = name, items, len(items)

    def __len__(self) -> int:
        return self.len

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        if isinstance(index, slice):
            return self._items[index]
        if not -self.len <= index < self.len:
            raise IndexError(f"{'piece' if self._name == 'pieces' else self._name} index is out of range")
        return self._items[index]

    def __iter__(self) -> Iterator[T]:
        return iter(self._items)

    def __str__(self) -> str:
        return "\n".join(f"{self._name} {{\n{item}}}" for item in self._items)

    __repr__ = __str__


class ImmutableSentencePieceText_ImmutableSentencePiece:
    """0.2.1's piece of an immutable text. ``begin`` and ``end`` are characters of the text."""

    __slots__ = ("begin", "end", "id", "piece_as_bytes", "surface_as_bytes")

    def __init__(self, piece: bytes = b"", surface: bytes = b"", id: int = 0, begin: int = 0, end: int = 0) -> None:
        self.piece_as_bytes, self.surface_as_bytes = piece, surface
        self.id, self.begin, self.end = id, begin, end

    @property
    def piece(self) -> str:
        return self.piece_as_bytes.decode("utf-8", errors="replace")

    @property
    def surface(self) -> str:
        return self.surface_as_bytes.decode("utf-8", errors="replace")

    def __str__(self) -> str:
        return (
            f'piece: "{self.piece}"\nid: {self.id}\nsurface: "{self.surface}"\nbegin: {self.begin}\nend: {self.end}\n'
        )

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


class ImmutableSentencePieceText:
    """0.2.1's immutable text: ``text``, ``score`` and ``pieces``."""

    def __init__(self, result: PiecesOfText | None = None) -> None:
        self._result = PiecesOfText(b"", []) if result is None else result

    @property
    def text(self) -> str:
        return self._result.text.decode("utf-8", errors="replace")

    @property
    def text_as_bytes(self) -> bytes:
        return self._result.text

    @property
    def score(self) -> float:
        return self._result.score or 0.0

    @property
    def pieces(self) -> ImmutableItems[ImmutableSentencePieceText_ImmutableSentencePiece]:
        result = self._result
        return ImmutableItems(
            "pieces",
            [
                ImmutableSentencePieceText_ImmutableSentencePiece(
                    piece.piece, result.surface(piece) if piece.has_surface else b"", piece.id, *offsets
                )
                for piece, offsets in zip(result.pieces, result.character_offsets(), strict=True)
            ],
        )

    def SerializeAsString(self) -> bytes:
        result, offsets = self._result, self._result.character_offsets()
        spans = [
            piece._replace(begin=begin, end=end) for piece, (begin, end) in zip(result.pieces, offsets, strict=True)
        ]
        return result.serialize(spans)

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, type(self)) and self._result == other._result

    def __hash__(self) -> int:
        return hash(self.SerializeAsString())

    def __str__(self) -> str:
        return f'text: "{self.text}"\nscore: {self.score}\n{self.pieces}'

    __repr__ = __str__


class ImmutableNBestSentencePieceText:
    """0.2.1's immutable list of results: ``nbests``."""

    def __init__(self, results: Iterable[PiecesOfText] = ()) -> None:
        self._results = list(results)

    @property
    def nbests(self) -> ImmutableItems[ImmutableSentencePieceText]:
        return ImmutableItems("nbests", [ImmutableSentencePieceText(result) for result in self._results])

    def SerializeAsString(self) -> bytes:
        return b"".join(field(b"\x0a", text.SerializeAsString()) for text in self.nbests)

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, type(self)) and self._results == other._results

    def __hash__(self) -> int:
        return hash(self.SerializeAsString())

    def __str__(self) -> str:
        return str(self.nbests)

    __repr__ = __str__
