"""`PreTokenizedString` of tokenizers 0.23: a text in pieces, which can be split, normalized and tokenized."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .arguments import check_function, id_number, text
from .encoding import Columns, Encoding, encoding_of_columns
from .normalized_string import NormalizedString, NormalizedStringRefMut, Span
from .token import Token

_NOT_TOKENIZED = "Split has not been tokenized, call `PreTokenizedString::tokenize` first"


class Piece(NamedTuple):
    """A piece of a text; ``tokens`` is None until it is tokenized."""

    normalized: NormalizedString
    tokens: list[Token] | None = None


class PreTokenizedString:
    """A text in pieces: tokenizers.PreTokenizedString."""

    __slots__ = ("_original", "pieces")

    def __init__(self, s: str) -> None:
        self._original = text(s)
        self.pieces = [Piece(NormalizedString(s))]

    def split(self, func: Callable[[int, NormalizedString], list[NormalizedString]]) -> None:
        check_function(
            func,
            "`split` expect a callable with the signature: "
            "`fn(index: int, normalized: NormalizedString) -> List[NormalizedString]`",
        )

        def parts(index: int, normalized: NormalizedString) -> list[Piece]:
            return [Piece(part) for part in _list_of(NormalizedString, func(index, normalized))]

        run(self.split_into, parts)

    def split_into(self, parts: Callable[[int, NormalizedString], list[Piece]]) -> None:
        """Replaces each piece without tokens by pieces; those without text are dropped."""
        pieces: list[Piece] = []
        for index, piece in enumerate(self.pieces):
            if piece.tokens is not None:
                pieces.append(piece)
            else:
                pieces += [part for part in parts(index, piece.normalized) if part.normalized.normalized]
        self.pieces = pieces

    def normalize(self, func: Callable[[Any], Any]) -> None:
        check_function(func, "`normalize` expect a callable with the signature: `fn(normalized: NormalizedString)`")
        for piece in self.pieces:
            if piece.tokens is None:
                run(_lend, func, piece.normalized)

    def tokenize(self, func: Callable[[str], list[Token]]) -> None:
        check_function(func, "`tokenize` expect a callable with the signature: `fn(str) -> List[Token]`")
        self.pieces = [
            piece
            if piece.tokens is not None
            else Piece(piece.normalized, run(_list_of, Token, run(func, piece.normalized.normalized)))
            for piece in self.pieces
        ]

    def get_splits(
        self, offset_referential: str = "original", offset_type: str = "char"
    ) -> list[tuple[str, Span, list[Token] | None]]:
        if text(offset_referential) not in ("original", "normalized"):
            raise ValueError("Wrong value for OffsetReferential, expected one of `original, normalized`")
        if text(offset_type) not in ("byte", "char"):
            raise ValueError("Wrong value for OffsetType, expected one of `byte, char`")
        splits: list[tuple[str, Span, list[Token] | None]] = []
        rows = _character_rows(self._original)
        at = 0
        for normalized, tokens in self.pieces:
            span = normalized.original_range()
            if offset_referential == "normalized":
                span = at, at + len(normalized.normalized.encode())
                at = span[1]
            if offset_type == "char":
                span = _in_characters(rows, span)
            splits.append((normalized.normalized, span, tokens))
        return splits

    def to_encoding(self, type_id: int = 0, word_idx: int | None = None) -> Encoding:
        word = None if word_idx is None else id_number(word_idx)
        return encoding_of_columns(self.columns(id_number(type_id), word))

    def columns(self, type_id: int, word: int | None) -> Columns:
        """Returns the lists of an encoding; with ``word``, all tokens belong to this word."""
        columns, rows = Columns(), _character_rows(self._original)
        for index, (normalized, tokens) in enumerate(self.pieces):
            if tokens is None:
                raise Exception(_NOT_TOKENIZED)
            for token in tokens:
                columns.ids.append(token.id)
                columns.tokens.append(token.value)
                columns.offsets.append(_in_characters(rows, normalized.range_of_bytes(*token.offsets)))
                columns.words.append(index if word is None else word)
        count = len(columns.ids)
        columns.types += [type_id] * count
        columns.special += [0] * count
        columns.attention += [1] * count
        return columns


class PreTokenizedStringRefMut:
    """What a pre-tokenizer in Python receives: the methods of a `PreTokenizedString` for the time of the call."""

    __slots__ = ("_target",)

    def __init__(self, target: PreTokenizedString) -> None:
        self._target: PreTokenizedString | None = target

    def target(self) -> PreTokenizedString:
        """Returns the text; raises a plain Exception after the call."""
        if self._target is None:
            raise Exception("Cannot use a PreTokenizedStringRefMut outside `pre_tokenize`")
        return self._target

    def release(self) -> None:
        """Ends the use of this object."""
        self._target = None

    def __getattr__(self, name: str) -> Any:
        if name not in ("get_splits", "normalize", "split", "to_encoding", "tokenize"):
            raise AttributeError(f"'PreTokenizedString' object has no attribute {name!r}")
        return getattr(self.target(), name)


def run(function: Callable[..., Any], *arguments: Any) -> Any:
    """Calls a function of the caller; its errors become plain exceptions, as in the original."""
    try:
        return function(*arguments)
    except Exception as error:
        if type(error) is Exception:
            raise
        raise Exception(f"{type(error).__name__}: {error}") from error


def _lend(function: Callable[[Any], Any], normalized: NormalizedString) -> None:
    lent = NormalizedStringRefMut(normalized)
    try:
        function(lent)
    finally:
        lent.release()


def _list_of(cls: type, values: Any) -> list[Any]:
    if not isinstance(values, (list, tuple)):
        raise TypeError(f"'{type(values).__name__}' object is not an instance of 'Sequence'")
    for value in values:
        if not isinstance(value, cls):
            raise TypeError(f"'{type(value).__name__}' object is not an instance of '{cls.__name__}'")
    return list(values)


def _character_rows(original: str) -> list[int]:
    """Returns the index of each byte's character."""
    return [at for at, character in enumerate(original) for _ in character.encode()]


def _in_characters(rows: list[int], span: Span) -> Span:
    """Converts a range of bytes to a range of characters; a range outside the text stays as it is."""
    start, stop = span
    size = len(rows)
    if not 0 <= start < size:
        return span
    if stop < size:
        return rows[start], rows[stop]
    return rows[start], (rows[stop - 1] if stop - 1 < size else rows[start] + 1) + 1
