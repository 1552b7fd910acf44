"""The embedded default vocabulary: `default.tiktoken` and what a rank file does not carry.

``DEFAULT_PATTERN`` is assembled from its alternatives, tried in this order at every position. Every character matches
one of them, so nothing is ever dropped. Marks count as letters: the vowel signs of Indic, Thai and Arabic script stay
in their word. A word can include one character before it that is not a letter, digit or line break (a space, a quote,
an apostrophe), so no list of contractions is needed and ``'`` and ``’`` are treated alike in every language.
"""

from __future__ import annotations

from importlib import resources
from typing import Final

DEFAULT_NAME: Final = "default"
DEFAULT_FILE: Final = "default.tiktoken"
DEFAULT_SIZE: Final = 32_768
DEFAULT_SHA256: Final = "ce995792f6d33864600e4f81f39c32fae5b262aa35e2566e38a1b09098957027"

_ALTERNATIVES: Final = (
    # A word with a small or caseless letter; capitals only at its start, so that camelCase is split before the C.
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
    # A word in capitals.
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}]+",
    # Digits in threes, from the left.
    r"\p{N}{1,3}",
    # Punctuation, symbols, emoji and everything else, with the line breaks that follow.
    r" ?[^\s\p{L}\p{N}]+[\r\n]*",
    # White space up to the last line break of its run.
    r"\s*[\r\n]+",
    # Indentation and trailing space; if a word follows, the last space is left to it.
    r"\s+(?!\S)",
    r"\s+",
)

DEFAULT_PATTERN: Final = "|".join(_ALTERNATIVES)
DEFAULT_SPECIAL_TOKENS: Final[dict[str, int]] = {"<|endoftext|>": DEFAULT_SIZE - 1}


def default_ranks() -> bytes:
    """The rank file: on each line the base64 of an entry's bytes, a space and its rank, which is its id."""
    return resources.files(__name__).joinpath(DEFAULT_FILE).read_bytes()
