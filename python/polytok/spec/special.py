"""Special and added tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Matching = Literal["longest", "listed", "longest_first"]


@dataclass(frozen=True, slots=True)
class SpecialToken:
    """A text that stands for one id before the rest of the pipeline sees it.

    A ``special`` token is recognised only if the caller allows it; any other always (Hugging Face's added tokens,
    llama.cpp's user-defined ones). ``single_word`` rejects matches that touch a letter, digit or underscore, ``lstrip``
    and ``rstrip`` include the white space on that side, ``normalized`` searches the normalized text for the normalized
    token. The text can also be a row of the vocabulary, with the same id.
    """

    text: str
    id: int
    special: bool = True
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool = False
