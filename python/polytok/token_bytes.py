"""The bytes that each id adds to a decoded text, and the ids whose bytes fit a given start of a text."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING

from . import _core
from .errors import PolytokError
from .records import replace
from .spec import (
    BpeDecode,
    ByteFallbackDecode,
    BytesDecode,
    ChainDecode,
    CtcDecode,
    Kind,
    LlamaCppDecode,
    Spec,
    WordPieceDecode,
)
from .vocab_table import VocabTable

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

BYTE_PIECE = re.compile(rb"<0x([0-9A-Fa-f]{2})>")


class TokenBytes:
    """The bytes of all ids of a tokenizer, by id: ``texts[id]``, and b"" for ids that stand for no text."""

    __slots__ = ("_ordered_ids", "_ordered_texts", "_used_ids", "longest", "texts")

    def __init__(self, spec: Spec, core: _core.Tokenizer) -> None:
        import numpy as np

        table = VocabTable(spec)
        self.texts = [b""] * (int(table.ids[-1]) + 1 if len(table) else 0)
        for id, text in zip(table.ids.tolist(), _decoded_texts(spec, core, table), strict=True):
            self.texts[id] = text
        self._used_ids = table.ids
        ids_with_text = [id for id, text in enumerate(self.texts) if text]
        ids_with_text.sort(key=self.texts.__getitem__)
        self._ordered_ids = np.array(ids_with_text, dtype=np.int64)
        self._ordered_texts = [self.texts[id] for id in ids_with_text]
        self.longest = max(map(len, self._ordered_texts), default=0)

    def padded(self, size: int) -> list[bytes]:
        """Returns the bytes of the ids from 0 to ``size`` - 1."""
        return self.texts[:size] + [b""] * (size - len(self.texts))

    def mask(self, prefix: bytes) -> npt.NDArray[np.bool_]:
        """Returns which ids can be the next one of a text that continues with ``prefix``.

        The entries that begin with the prefix are adjacent in the order of bytes. The entries with which the prefix
        begins are looked up by their length, until no entry begins with that part of the prefix.
        """
        import numpy as np

        mask = np.zeros(len(self.texts), dtype=np.bool_)
        if not prefix:
            mask[self._used_ids] = True
            return mask
        texts = self._ordered_texts
        for length in range(1, min(len(prefix) - 1, self.longest) + 1):
            part = prefix[:length]
            first = place = bisect_left(texts, part)
            while place < len(texts) and texts[place] == part:
                place += 1
            mask[self._ordered_ids[first:place]] = True
            if place == len(texts) or not texts[place].startswith(part):
                return mask
        mask[self._ordered_ids[self._range_of(prefix)]] = True
        return mask

    def has_extension(self, text: bytes) -> bool:
        """Reports whether an entry begins with ``text`` and is longer."""
        places = self._range_of(text)
        return any(len(self._ordered_texts[place]) > len(text) for place in range(places.start, places.stop))

    def _range_of(self, prefix: bytes) -> slice:
        """Returns the places of the entries that begin with ``prefix``."""
        first = bisect_left(self._ordered_texts, prefix)
        shortest_after = prefix.rstrip(b"\xff")  # the smallest bytes that are larger than all that begin with prefix
        if not shortest_after:
            return slice(first, len(self._ordered_texts))
        shortest_after = shortest_after[:-1] + bytes([shortest_after[-1] + 1])
        return slice(first, bisect_left(self._ordered_texts, shortest_after, first))


def _decoded_texts(spec: Spec, core: _core.Tokenizer, table: VocabTable) -> list[bytes]:
    """Returns what decoding adds for each id of the table after a letter; b"" for special and unknown tokens."""
    core = _core_without_cleanup(spec, core)
    letters = [_last_id(core, letter) for letter in (b"a", b"b")]
    suffix, has_byte_pieces = _chain_rules(spec)
    prints_pieces = isinstance(spec.decode, BytesDecode)
    texts = []
    for id, piece, kind, special in zip(
        table.ids.tolist(), table.pieces, table.kinds.tolist(), table.special.tolist(), strict=True
    ):
        if special or kind == Kind.UNKNOWN:
            texts.append(b"")
        elif prints_pieces:
            texts.append(piece)
        elif (kind == Kind.BYTE or has_byte_pieces) and (byte := BYTE_PIECE.fullmatch(piece)):
            texts.append(bytes([int(byte[1], 16)]))
        elif suffix:
            texts.append(piece.replace(suffix, b" "))
        else:
            # Some decoders print equal tokens in a row once, so an id does not follow itself.
            before = letters[letters[0] == [id]] or [id]
            texts.append(core.decode_bytes([*before, id], False)[len(core.decode_bytes(before, False)) :])
    return texts


def _core_without_cleanup(spec: Spec, core: _core.Tokenizer) -> _core.Tokenizer:
    """Returns a tokenizer whose decoder does not remove spaces before punctuation, because the entries have them."""
    match spec.decode:
        case LlamaCppDecode(clean_spaces=True):
            return _core.Tokenizer(replace(spec, decode=replace(spec.decode, clean_spaces=False)))
        case ChainDecode(steps=steps) if steps:
            kept_steps = tuple(
                replace(step, cleanup=False) if isinstance(step, WordPieceDecode | CtcDecode) else step
                for step in steps
            )
            if kept_steps != steps:
                return _core.Tokenizer(replace(spec, decode=replace(spec.decode, steps=kept_steps)))
    return core


def _chain_rules(spec: Spec) -> tuple[bytes, bool]:
    """Returns the suffix that Hugging Face's decoders replace with a space, and whether they have byte pieces."""
    if not isinstance(spec.decode, ChainDecode):
        return b"", False
    steps = spec.decode.steps or ()
    suffixes = [step.suffix.encode() for step in steps if isinstance(step, BpeDecode)]
    return b"".join(suffixes[:1]), any(isinstance(step, ByteFallbackDecode) for step in steps)


def _last_id(core: _core.Tokenizer, text: bytes) -> list[int]:
    """Returns the last id of a text, as a list; an empty list if the vocabulary cannot cover the text."""
    try:
        return core.encode(text)[-1:]
    except PolytokError:
        return []
