"""The named split patterns: those of tiktoken's vocabularies and of tokenizers' pre-tokenizers.

Sources: openai/tiktoken, tiktoken_ext/openai_public.py; meta-llama/llama3, llama/tokenizer.py; the tokenizer.json of
Qwen/Qwen2-7B and Qwen/Qwen3.5-4B. The character classes by which tokenizers splits are written as classes of the
engine's regular expressions. White space is the property White_Space, which no later version of Unicode has changed.
Punctuation is ASCII's punctuation and the general category P of Unicode 8 (the crate unicode_categories). A number is a
character for which Rust's `char::is_numeric` is true: the category N of Unicode 17, which has 13 characters more than
the engine's tables. Both classes are checked character by character against tokenizers 0.23.3.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, TypeAlias

from .data import DEFAULT_PATTERN
from .errors import ArgumentError
from .keywords import keyword
from .spec import PatternSplit
from .suggestions import did_you_mean

R50K = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
CL100K = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
O200K = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN2 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN35 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)

_PUNCTUATION = """
21-2F 3A-40 5B-60 7B-7E A1 A7 AB B6-B7 BB BF 37E 387 55A-55F 589-58A 5BE 5C0 5C3 5C6 5F3-5F4 609-60A 60C-60D 61B
61E-61F 66A-66D 6D4 700-70D 7F7-7F9 830-83E 85E 964-965 970 AF0 DF4 E4F E5A-E5B F04-F12 F14 F3A-F3D F85 FD0-FD4
FD9-FDA 104A-104F 10FB 1360-1368 1400 166D-166E 169B-169C 16EB-16ED 1735-1736 17D4-17D6 17D8-17DA 1800-180A
1944-1945 1A1E-1A1F 1AA0-1AA6 1AA8-1AAD 1B5A-1B60 1BFC-1BFF 1C3B-1C3F 1C7E-1C7F 1CC0-1CC7 1CD3 2010-2027
2030-2043 2045-2051 2053-205E 207D-207E 208D-208E 2308-230B 2329-232A 2768-2775 27C5-27C6 27E6-27EF 2983-2998
29D8-29DB 29FC-29FD 2CF9-2CFC 2CFE-2CFF 2D70 2E00-2E2E 2E30-2E42 3001-3003 3008-3011 3014-301F 3030 303D 30A0
30FB A4FE-A4FF A60D-A60F A673 A67E A6F2-A6F7 A874-A877 A8CE-A8CF A8F8-A8FA A8FC A92E-A92F A95F A9C1-A9CD
A9DE-A9DF AA5C-AA5F AADE-AADF AAF0-AAF1 ABEB FD3E-FD3F FE10-FE19 FE30-FE52 FE54-FE61 FE63 FE68 FE6A-FE6B
FF01-FF03 FF05-FF0A FF0C-FF0F FF1A-FF1B FF1F-FF20 FF3B-FF3D FF3F FF5B FF5D FF5F-FF65 10100-10102 1039F 103D0
1056F 10857 1091F 1093F 10A50-10A58 10A7F 10AF0-10AF6 10B39-10B3F 10B99-10B9C 11047-1104D 110BB-110BC
110BE-110C1 11140-11143 11174-11175 111C5-111C9 111CD 111DB 111DD-111DF 11238-1123D 112A9 114C6 115C1-115D7
11641-11643 1173C-1173E 12470-12474 16A6E-16A6F 16AF5 16B37-16B3B 16B44 1BC9F 1DA87-1DA8B
"""


def _class(ranges: str) -> str:
    ends = (range_text.split("-") for range_text in ranges.split())
    return "".join("-".join(rf"\x{{{end}}}" for end in pair) for pair in ends)


SPACE = r"\s"
PUNCTUATION = f"[{_class(_PUNCTUATION)}]"
NUMBER = rf"[\p{{N}}{_class('11DE0-11DE9 16FF4-16FF6')}]"
"""A pattern that matches one character: a number."""

WORDS = r"\w+|[^\w\s]+"
"""A pattern whose matches are the pieces of the pre-tokenizer Whitespace."""

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
"""The pattern of the pre-tokenizer ByteLevel."""

COMPONENT_PATTERNS = frozenset({SPACE, PUNCTUATION, NUMBER, WORDS, GPT2})
"""The patterns that represent components of a tokenizer.json which have no pattern."""

PATTERNS: Mapping[str, str] = {
    "gpt2": GPT2,
    "cl100k": CL100K,
    "o200k": O200K,
    "llama3": LLAMA3,
    "qwen2": QWEN2,
    "qwen35": QWEN35,
    "default": DEFAULT_PATTERN,
}
"""The patterns without gaps by name; the last one belongs to the embedded vocabulary."""

PatternName: TypeAlias = Literal[
    "gpt2", "cl100k", "o200k", "llama3", "qwen2", "qwen35", "default", "whitespace", "whitespace_split", "bert"
]
"""The name of a pattern or of a pre-tokenizer."""

PRE_TOKENIZERS: Mapping[str, tuple[PatternSplit, ...]] = {
    "whitespace": (PatternSplit(WORDS, "removed", invert=True),),
    "whitespace_split": (PatternSplit(SPACE, "removed"),),
    "bert": (PatternSplit(SPACE, "removed"), PatternSplit(PUNCTUATION, "isolated")),
}
"""The pre-tokenizers of tokenizers that drop white space, by name."""

_NAME = re.compile(r"[^\W\d][\w -]*")
"""A text that can be a name: no part of it has a meaning in regular expressions."""


def resolve(pattern: str) -> str | tuple[PatternSplit, ...]:
    """Returns the regular expression of a named pattern, or the split steps of a named pre-tokenizer.

    A regular expression is returned unchanged. Raises `ArgumentError` for a text that looks like a name but is unknown,
    because as a regular expression it would match nothing but this text.

    >>> resolve("whitespace_split")[0].pattern, resolve("a+"), resolve("gpt2") == GPT2
    ('\\\\s', 'a+', True)
    """
    if pattern in PATTERNS:
        return PATTERNS[pattern]
    if pattern in PRE_TOKENIZERS:
        return PRE_TOKENIZERS[pattern]
    if _NAME.fullmatch(pattern):
        all_names = (*PATTERNS, *PRE_TOKENIZERS)
        raise ArgumentError(
            f"unknown {keyword('pattern', pattern)}{did_you_mean(pattern.lower(), all_names)}; the names are "
            f"{', '.join(map(repr, all_names))}; any other text is a regular expression ((?:{pattern}) matches only "
            "this text)"
        )
    return pattern
