"""Special and added tokens."""

from __future__ import annotations

from typing import Literal

from ..records import dataclass

Matching = Literal["longest", "listed", "longest_first"]


@dataclass(frozen=True, slots=True)
class SpecialToken:
    """A special or added token: its text is searched in the input before normalization, and is encoded to its id.

    * ``special``: the token is recognized only if the caller allows it. Tokens without ``special`` are always
      recognized: Hugging Face's added tokens, llama.cpp's user-defined ones.
    * ``single_word``: matches next to a letter, digit or underscore are rejected.
    * ``lstrip``, ``rstrip``: the white space before or after a match belongs to the match.
    * ``normalized``: the token is normalized, and is searched after normalization instead.

    The vocabulary can also contain an entry with the same text and id.
    """

    text: str
    id: int
    special: bool = True
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool = False
