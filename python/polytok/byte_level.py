"""GPT-2's table: every byte as a visible character. Hugging Face and GGUF write byte-level vocabularies with it.

The bytes that Latin-1 prints (``!`` to ``~``, U+00A1 to U+00AC, U+00AE to U+00FF) map to the characters with the same
number; the other 68 map, in order, to U+0100 to U+0143.

>>> CHARACTERS[32], BYTES["a"], BYTES["\u0120"]
('Ġ', 97, 32)
"""

from __future__ import annotations

_PRINTED = (*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100))
_OTHERS = sorted(set(range(256)).difference(_PRINTED))

BYTES: dict[str, int] = {
    **{chr(byte): byte for byte in _PRINTED},
    **{chr(0x100 + place): byte for place, byte in enumerate(_OTHERS)},
}
"""The byte of each character, in the order of the characters."""

CHARACTERS: tuple[str, ...] = tuple(sorted(BYTES, key=BYTES.__getitem__))
"""The character of each byte."""
