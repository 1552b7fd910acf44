"""What cutting needs from the engine, in characters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeAlias

from .. import _core
from ..values import Text
from .characters import is_utf8, is_utf8_bytes

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_BLOCK = 64

CONTEXT = 2
"""The number of characters before a cut, and after it, that its proof reads."""

_FindCut: TypeAlias = Callable[["Text", int, int, "_core.ResolvedOptions | None"], "int | None"]


class Engine:
    """Counts tokens of characters with the options of one call. The options do not add special tokens."""

    def __init__(self, core: _core.Tokenizer, options: _core.ResolvedOptions | None, *, has_cuts: bool = True) -> None:
        self._core = core
        self._options = options
        self._has_cuts = has_cuts

    def for_text(self, text: Text) -> Engine:
        """Returns the engine for a text: no cut is proven if some of its bytes are not UTF-8."""
        if isinstance(text, str) or is_utf8_bytes(text):
            return self
        return Engine(self._core, self._options, has_cuts=False)

    def count_text(self, text: Text) -> int:
        """Returns the number of tokens of a text as the caller passed it."""
        return self._core.count(text, self._options)

    def count_texts(self, texts: list[Text], threads: int) -> npt.NDArray[np.int64]:
        """Returns the number of tokens of each text."""
        return self._core.count_batch(texts, self._options, threads)

    def count(self, characters: str) -> int:
        """Returns the number of tokens."""
        return self._core.count(_encodable(characters), self._options)

    def spans(self, characters: str) -> tuple[npt.NDArray[np.integer], npt.NDArray[np.integer]]:
        """Returns the starts and ends of the tokens in characters, both of shape (tokens,)."""
        text = _encodable(characters)
        _, starts, ends, byte_starts, byte_ends = self._core.spans(text, self._options)
        return (starts, ends) if isinstance(text, str) else _character_spans(characters, byte_starts, byte_ends)

    def last_cut(self, characters: str, start: int, end: int) -> int | None:
        """Returns the last safe cut from ``start`` to ``end``, or None if none can be proven.

        A safe cut is a place at which the tokens on both sides do not depend on the other side, whatever text stands
        before and after these characters. At least `CONTEXT` characters stand before it.
        """
        return self._last_cut(self._core.safe_cut, characters, start, end)

    def last_left_cut(self, characters: str, start: int, end: int) -> int | None:
        """Returns the last left cut from ``start`` to ``end``, or None if none can be proven.

        At a left cut a token ends, whatever text stands before and after these characters, and the tokens before it do
        not depend on the text after it. Every safe cut is a left cut.
        """
        return self._last_cut(self._core.left_cut, characters, start, end)

    def left_cuts(self, characters: str) -> Iterator[int]:
        """Yields all left cuts from right to left."""
        end = len(characters)
        while end >= CONTEXT:
            first = max(end - _BLOCK, 0)
            block, last = characters[first : end + CONTEXT], end - first
            while (cut := self.last_left_cut(block, 0, last)) is not None:
                yield first + cut
                last = cut - 1
            end = first + CONTEXT - 1 if first else 0

    def _last_cut(self, find: _FindCut, characters: str, start: int, end: int) -> int | None:
        start = max(start, CONTEXT)
        if not self._has_cuts or end < start:
            return None
        if characters.isascii():
            return find(characters, start, end, self._options)
        data = characters.encode()
        byte_start = len(characters[:start].encode())
        byte_end = byte_start + len(characters[start:end].encode())
        cut = find(data, byte_start, byte_end, self._options)
        return None if cut is None else len(data[:cut].decode())


def _encodable(characters: str) -> Text:
    """Returns characters as the text that the engine encodes: ``bytes`` if some are bytes that are not UTF-8."""
    if characters.isascii() or is_utf8(characters):
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
