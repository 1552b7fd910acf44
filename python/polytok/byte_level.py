"""GPT-2's table of bytes, which maps every byte to a visible character; byte-level vocabularies are written with it.

The bytes that Latin-1 prints (``!`` to ``~``, U+00A1 to U+00AC, U+00AE to U+00FF) map to the characters with the same
code points; the other 68 map, in order, to U+0100 to U+0143.

>>> CHARACTERS[32], BYTES["a"], BYTES["\u0120"]
('Ġ', 97, 32)
"""

from __future__ import annotations

_PRINTABLE_BYTES = (*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100))
_OTHER_BYTES = sorted(set(range(256)).difference(_PRINTABLE_BYTES))

BYTES: dict[str, int] = {
    **{chr(byte): byte for byte in _PRINTABLE_BYTES},
    **{chr(0x100 + index): byte for index, byte in enumerate(_OTHER_BYTES)},
}
"""The byte of each character."""

CHARACTERS: tuple[str, ...] = tuple(sorted(BYTES, key=BYTES.__getitem__))
"""The character of each byte."""
