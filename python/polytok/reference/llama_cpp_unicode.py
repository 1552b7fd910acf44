"""Characters by llama.cpp's definitions: its lenient decoder, and its tables, which are those of Unicode 15.1."""

from __future__ import annotations

import functools
import unicodedata

import regex  # type: ignore[import-untyped,unused-ignore]

WHITE = frozenset(
    [*range(9, 14), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000]
)
REPLACEMENT = 0xFFFD
_CATEGORY = regex.compile(r"(\p{L})|(\p{N})|(\p{P})|(\p{M})|(\p{S})|(\p{Z})|(\p{Cn})")
_ASSIGNED_LATER = tuple(
    tuple(int(code, 16) for code in (text.split("-") * 2)[:2])
    for line in (
        "558 58B-58C 5C8-5C9 88F 897 B53-B54 C5C CDC 1ACF-1AF0 1B4E-1B4F 1B7F 1C89-1C8A 208F 209D-209F 20C1-20C4",
        "2427-2429 2B96 2E60-2E63 31E4-31E5 A7CB-A7CF A7D2 A7D4 A7DA-A7DD A7E2 A7F1 AB6C-AB6D FBC3-FBD2 FD90-FD91",
        "FDC8-FDCE 105C0-105F3 107BB-107BF 10940-10959 10D40-10D65 10D69-10D85 10D8E-10D8F 10EC2-10EC7 10EC9-10EEE",
        "10EF0-10EFC 11380-11389 1138B 1138E 11390-113B5 113B7-113C0 113C2 113C5 113C7-113CA 113CC-113D5 113D7-113D8",
        "113E1-113E2 116D0-116E3 11B0A 11B60-11B67 11BC0-11BE1 11BF0-11BF9 11DB0-11DDB 11DE0-11DE9 11DF0-11DF1 11F5A",
        "1246F 12475-1247F 12550-12686 13460-143FA 16100-16139 16D40-16D79 16EA0-16EB8 16EBB-16ED3 16FF2-16FF6",
        "187F8-187FF 18CD6-18CDA 18CFF 18D09-18D20 18D80-18DF2 18E00-19191 191A0-191D2 1B123-1B128 1B168 1CC00-1CCFC",
        "1CD00-1CEB3 1CEBA-1CED0 1CED2-1CED4 1CEDD-1CEFD 1D127-1D128 1D1EB-1D1FF 1D250-1D281 1D6A6 1DB00-1DB1C",
        "1DF1F-1DF24 1DF2B-1DF81 1DF90-1DF96 1DFCD-1DFFF 1E5D0-1E5FA 1E5FF 1E6C0-1E6DE 1E6E0-1E6F5 1E6FE-1E6FF 1F1AE",
        "1F6D8-1F6D9 1F777-1F77A 1F7DA-1F7DB 1F7F1-1F7FF 1F8B2-1F8BB 1F8C0-1F8C1 1F8D0-1F8D8 1FA54-1FA57 1FA89-1FA8F",
        "1FABE 1FAC6 1FAC8 1FACC-1FACD 1FADC-1FADD 1FADF 1FAE9-1FAEB 1FAEF 1FAF9-1FAFA 1FBCB-1FBEF 1FBFA 2B73A-2B73F",
        "2B81E 2CEA2-2CEAD 323B0-33479 3D000-3FC3F",
    )
    for text in line.split()
)
"""The ranges of code points that Unicode assigned after version 15.1."""
_LOWER = {
    **{0x130: 0x69, 0x2C2F: 0x2C5F, 0xA7C0: 0xA7C1, 0xA7D0: 0xA7D1, 0xA7D6: 0xA7D7, 0xA7D8: 0xA7D9},
    **{code: code + 0x27 for code in range(0x10570, 0x10596)},
}
"""A mapping that Python has as two characters, and those of Unicode 14, which Python 3.10 lacks."""


def code_points(text: bytes) -> list[int]:
    """Decodes by lead byte and continuation bytes; every byte that does not fit is replaced with one U+FFFD."""
    codes, at = [], 0
    while at < len(text):
        length = (
            1 if text[at] < 0x80 else {0xC: 2, 0xD: 2, 0xE: 3}.get(text[at] >> 4, 4 if text[at] >> 3 == 0x1E else 0)
        )
        continuation = text[at + 1 : at + length]
        if length == 0 or len(continuation) < length - 1 or any(byte & 0xC0 != 0x80 for byte in continuation):
            codes.append(REPLACEMENT)
            at += 1
            continue
        code = text[at] if length == 1 else text[at] & 0x7F >> length
        for byte in continuation:
            code = code << 6 | byte & 0x3F
        codes.append(code)
        at += length
    return codes


def utf8(code: int) -> bytes:
    """Returns a code point's bytes in UTF-8; surrogates are encoded too."""
    return chr(code).encode("utf-8", "surrogatepass")


@functools.lru_cache(maxsize=1 << 16)
def category(code: int) -> str:
    """Returns the category of a code point: L, N, P, M, S, Z, C, or ``?`` if it is unassigned."""
    if 0xD800 <= code < 0xE000:
        return "C"
    if code > 0x10FFFF or any(first <= code <= last for first, last in _ASSIGNED_LATER):
        return "?"
    match = _CATEGORY.match(chr(code))
    return "LNPMSZ?"[match.lastindex - 1] if match else "C"


def lower(code: int) -> int:
    """Returns the simple lower-case mapping of a code point."""
    if category(code) == "?":
        return code
    return _LOWER.get(code) or ord(chr(code).lower())


def first_of_nfd(code: int) -> int:
    """Returns the first code point of the canonical decomposition of a code point."""
    return code if category(code) == "?" else ord(unicodedata.normalize("NFD", chr(code))[0])
