"""SentencePiece's ``precompiled_charsmap``: a trie of byte strings and their replacements.

The blob is a little-endian uint32 N, then N bytes of a Darts-clone double array (32-bit units), then the replacements,
each ended by a NUL; a key's value is the offset of its replacement. In a unit, bit 8 says that a key ends here, bit 31
marks a value, the low byte is the label, and the rest is the offset to the children, in steps of 256 if bit 9 is set.
"""

from __future__ import annotations

from polytok.errors import SpecError

MOST_MATCHES = 32
"""The reference examines no more nested matches; its compiler never writes a blob with more."""


class Charsmap:
    """The rules of one blob, which must not be empty."""

    def __init__(self, blob: bytes) -> None:
        self.blob = blob
        self.strings = 4 + int.from_bytes(blob[:4], "little")
        if len(blob) <= 4 or self.strings >= len(blob) or self.strings % 4 or blob[-1] != 0:
            raise SpecError(f"charsmap: a blob of {len(blob)} bytes cannot hold a trie that ends at {self.strings}")

    def longest(self, text: bytes, at: int) -> tuple[bytes, int] | None:
        """The replacement of the longest key at ``at``, and where that key ends; None if no key matches."""
        found = None
        matches = 0
        place = _offset(self._unit(0))
        for end in range(at + 1, len(text) + 1):
            place ^= text[end - 1]
            unit = self._unit(place)
            if unit & 0x8000_00FF != text[end - 1]:
                break
            place ^= _offset(unit)
            if unit & 0x100:
                found = (self._unit(place) & 0x7FFF_FFFF, end)
                matches += 1
                if matches == MOST_MATCHES:
                    break
        return found and (self._string(found[0]), found[1])

    def _unit(self, place: int) -> int:
        start = 4 + 4 * place
        if start >= self.strings:
            raise SpecError(f"charsmap: the trie leads to unit {place}, behind its end")
        return int.from_bytes(self.blob[start : start + 4], "little")

    def _string(self, value: int) -> bytes:
        start = self.strings + value
        if start >= len(self.blob):
            raise SpecError(f"charsmap: the trie leads to replacement {value}, behind the blob's end")
        return self.blob[start : self.blob.index(0, start)]


def _offset(unit: int) -> int:
    return (unit >> 10) << (8 if unit & 0x200 else 0)
