"""What cutting needs from the engine, in characters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeAlias

from .. import _core
from ..parts import Parts
from ..utf8 import has_surrogate, is_utf8
from ..values import Text
from .characters import Characters, str_of
from .part_characters import PartCharacters

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_BLOCK = 64

CONTEXT = 2
"""The number of characters before a cut, and after it, that its proof reads."""

_FindCut: TypeAlias = Callable[["Text | _core.Parts", int, int, "_core.ResolvedOptions | None"], "int | None"]


class Engine:
    """Counts tokens of characters with the options of one call. The options do not add special tokens."""

    def __init__(self, core: _core.Tokenizer, options: _core.ResolvedOptions | None, *, has_cuts: bool = True) -> None:
        self._core = core
        self._options = options
        self._has_cuts = has_cuts

    def for_text(self, text: Text | Parts) -> Engine:
        """Returns the engine for a text: no cut is proven if some of its bytes are not UTF-8."""
        if not isinstance(text, bytes) or is_utf8(text):
            return self
        return Engine(self._core, self._options, has_cuts=False)

    def count_text(self, text: Text | Parts) -> int:
        """Returns the number of tokens of a text as the caller passed it."""
        return self._core.count(text, self._options)

    def count_texts(self, texts: list[Text | Parts], threads: int) -> npt.NDArray[np.int64]:
        """Returns the number of tokens of each text."""
        return self._core.count_batch([*texts], self._options, threads)

    def count(self, characters: Characters) -> int:
        """Returns the number of tokens."""
        return self._core.count(_encodable(characters), self._options)

    def spans(self, characters: Characters) -> tuple[npt.NDArray[np.integer], npt.NDArray[np.integer]]:
        """Returns the starts and ends of the tokens in characters, both of shape (tokens,)."""
        text = _encodable(characters)
        _, starts, ends, byte_starts, byte_ends = self._core.spans(text, self._options)
        if isinstance(text, bytes):
            return _character_spans(str_of(characters), byte_starts, byte_ends)
        return starts, ends

    def last_cut(self, characters: Characters, start: int, end: int) -> int | None:
        """Returns the last safe cut from ``start`` to ``end``, or None if none can be proven.

        A safe cut is a place at which the tokens on both sides do not depend on the other side, whatever text stands
        before and after these characters. At least `CONTEXT` characters stand before it.
        """
        return self._last_cut(self._core.safe_cut, characters, start, end)

    def last_left_cut(self, characters: Characters, start: int, end: int) -> int | None:
        """Returns the last left cut from ``start`` to ``end``, or None if none can be proven.

        At a left cut a token ends, whatever text stands before and after these characters, and the tokens before it do
        not depend on the text after it. Every safe cut is a left cut.
        """
        return self._last_cut(self._core.left_cut, characters, start, end)

    def left_cuts(self, characters: Characters) -> Iterator[int]:
        """Yields all left cuts from right to left."""
        end = len(characters)
        while end >= CONTEXT:
            first = max(end - _BLOCK, 0)
            block, last = characters[first : end + CONTEXT], end - first
            while (cut := self.last_left_cut(block, 0, last)) is not None:
                yield first + cut
                last = cut - 1
            end = first + CONTEXT - 1 if first else 0

    def _last_cut(self, find: _FindCut, characters: Characters, start: int, end: int) -> int | None:
        start = max(start, CONTEXT)
        if not self._has_cuts or end < start:
            return None
        text = str_of(characters)
        if text.isascii():
            return find(_encodable(characters), start, end, self._options)
        data = text.encode()
        byte_start = len(text[:start].encode())
        byte_end = byte_start + len(text[start:end].encode())
        cut = find(data if isinstance(characters, str) else characters.encodable(), byte_start, byte_end, self._options)
        return None if cut is None else len(data[:cut].decode())


def _encodable(characters: Characters) -> Text | _core.Parts:
    """Returns characters as the text that the engine encodes: ``bytes`` if some are bytes that are not UTF-8."""
    if isinstance(characters, PartCharacters):
        return characters.encodable()
    if characters.isascii() or not has_surrogate(characters):
        return characters
    return characters.encode("utf-8", "surrogateescape")


def _character_spans(
    characters: str, byte_starts: npt.NDArray[np.uint32], byte_ends: npt.NDArray[np.uint32]
) -> tuple[npt.NDArray[np.integer], npt.NDArray[np.integer]]:
    """Converts spans in bytes; the span of a token with a part of a character has the whole character."""
    import numpy as np

    lengths = [len(character.encode("utf-8", "surrogateescape")) for character in characters]
    borders = np.concatenate([[0], np.cumsum(lengths)])
    return np.searchsorted(borders, byte_starts, "right") - 1, np.searchsorted(borders, byte_ends, "left")
