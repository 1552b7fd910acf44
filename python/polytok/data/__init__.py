"""The embedded default vocabulary: its entries, the split pattern and the special tokens.

Every entry after the 256 bytes consists of two earlier entries, and ``default.pairs`` has the ids of these two. The
file has a quarter of the size of a rank file.

``DEFAULT_PATTERN`` has alternatives, which are tried in this order at every position. Every character matches an
alternative, so no text is dropped. Marks count as letters, so that the vowel signs of Indic, Thai and Arabic scripts
stay in their words. A word can begin with one character that is not a letter, digit or line break, such as a space, a
quote or an apostrophe. So the pattern needs no list of contractions and treats ``'`` and ``’`` equally in every
language.
"""

from __future__ import annotations

import os
from typing import Final

DEFAULT_NAME: Final = "default"
DEFAULT_FILE: Final = "default.pairs"
DEFAULT_SIZE: Final = 32_768
DEFAULT_RANKS_SHA256: Final = "ce995792f6d33864600e4f81f39c32fae5b262aa35e2566e38a1b09098957027"

_PATTERN_ALTERNATIVES: Final = (
    # A word of capitals, if any, and then small or caseless letters, so that camelCase is split before the C.
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
    # A word in capitals.
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}]+",
    # Groups of up to three digits, from the left.
    r"\p{N}{1,3}",
    # Punctuation, symbols, emoji and all other characters, with the line breaks that follow.
    r" ?[^\s\p{L}\p{N}]+[\r\n]*",
    # White space up to its last line break.
    r"\s*[\r\n]+",
    # Other white space, except its last character if text follows; a following word begins with that character.
    r"\s+(?!\S)",
    r"\s+",
)

DEFAULT_PATTERN: Final = "|".join(_PATTERN_ALTERNATIVES)
DEFAULT_SPECIAL_TOKENS: Final[dict[str, int]] = {"<|endoftext|>": DEFAULT_SIZE - 1}


def default_pairs() -> bytes:
    """Returns the content of ``default.pairs``, whose format is in crates/polytok-core/src/wire/pairs.rs."""
    # Importing importlib.resources or pathlib takes longer than reading the file.
    with open(os.path.join(os.path.dirname(__file__), DEFAULT_FILE), "rb") as file:
        return file.read()


def default_ranks() -> bytes:
    """Returns the vocabulary as tiktoken's rank file: lines of an entry's bytes as base64, a space, and its id."""
    from .. import _core
    from ..spec import Vocab

    return _core.rank_file_write(Vocab(*_core.pairs_read(default_pairs())))
