"""SentencePiece's ``precompiled_charsmap``: a trie from byte strings to their replacements.

The blob consists of a little-endian uint32 N, a Darts-clone double array of N bytes (in 32-bit units), and the
replacements, each with a NUL at its end. The value of a key is the offset of its replacement. In a unit, bit 8 marks
the end of a key, bit 31 marks a value, the low byte is the label, and the other bits are the offset to the children,
in steps of 256 if bit 9 is set.
"""

from __future__ import annotations

from polytok.errors import SpecError

MAX_MATCHES = 32
"""The number of nested matches after which the reference stops; its compiler never writes a blob with more."""


class Charsmap:
    """The rules of one blob that is not empty."""

    def __init__(self, blob: bytes) -> None:
        self.blob = blob
        self.strings_start = 4 + int.from_bytes(blob[:4], "little")
        if len(blob) <= 4 or self.strings_start >= len(blob) or self.strings_start % 4 or blob[-1] != 0:
            raise SpecError(
                f"charsmap: a blob of {len(blob)} bytes cannot hold a trie that ends at {self.strings_start}"
            )

    def longest_match(self, text: bytes, at: int) -> tuple[bytes, int] | None:
        """Returns the replacement of the longest key at ``at``, and the key's end; None if no key matches."""
        last_match = None
        match_count = 0
        index = _child_offset(self._unit_at(0))
        for end in range(at + 1, len(text) + 1):
            index ^= text[end - 1]
            unit = self._unit_at(index)
            if unit & 0x8000_00FF != text[end - 1]:
                break
            index ^= _child_offset(unit)
            if unit & 0x100:
                last_match = (self._unit_at(index) & 0x7FFF_FFFF, end)
                match_count += 1
                if match_count == MAX_MATCHES:
                    break
        return last_match and (self._replacement_at(last_match[0]), last_match[1])

    def _unit_at(self, index: int) -> int:
        start = 4 + 4 * index
        if start >= self.strings_start:
            raise SpecError(f"charsmap: the trie leads to unit {index}, which is past its end")
        return int.from_bytes(self.blob[start : start + 4], "little")

    def _replacement_at(self, value: int) -> bytes:
        start = self.strings_start + value
        if start >= len(self.blob):
            raise SpecError(f"charsmap: the trie leads to replacement {value}, which is past the blob's end")
        return self.blob[start : self.blob.index(0, start)]


def _child_offset(unit: int) -> int:
    return (unit >> 10) << (8 if unit & 0x200 else 0)
