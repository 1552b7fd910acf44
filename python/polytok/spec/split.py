"""How the text is split into pieces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ..space_mark import SPACE_MARK
from .normalize import ByteLevel

Behavior = Literal["matches", "removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]


@dataclass(frozen=True, slots=True)
class PatternSplit:
    """Splits at the matches of a regular expression (or of a plain text), left to right, first alternative first.

    ``behavior`` decides what happens to matches and to the gaps between them:

    * ``matches``: the matches are the pieces, the gaps are dropped (tiktoken, minbpe);
    * ``isolated``: both are pieces (llama.cpp, and Hugging Face's name for it, as the following are);
    * ``removed``: the gaps are the pieces, the matches are dropped;
    * ``merged_with_previous``, ``merged_with_next``: a match joins the gap before or after it;
    * ``contiguous``: as isolated, but adjacent matches are one piece, and adjacent gaps too.

    ``invert`` swaps matches and gaps first. The pattern is in the engine's syntax (fancy_regex); ``unicode`` is the
    version of the Unicode tables, e.g. "15.0", None for the engine's own.
    """

    kind: ClassVar[str] = "pattern"
    pattern: str
    behavior: Behavior = "matches"
    invert: bool = False
    is_regex: bool = True
    unicode: str | None = None


@dataclass(frozen=True, slots=True)
class Metaspace:
    """Replaces spaces with ``replacement``, and adds it before each piece (``always``) or only before one that starts
    the text (``first``), unless the piece starts with it; then, with ``split``, splits before each of them.
    """

    kind: ClassVar[str] = "metaspace"
    replacement: str = SPACE_MARK
    prepend: Literal["always", "first", "never"] = "always"
    split: bool = True


@dataclass(frozen=True, slots=True)
class PieceSpace:
    """Adds a space before each piece that does not start with one (ByteLevel's ``add_prefix_space``)."""

    kind: ClassVar[str] = "piece_space"


@dataclass(frozen=True, slots=True)
class ScriptSplit:
    """Splits where the script changes, as Hugging Face's UnicodeScripts."""

    kind: ClassVar[str] = "script"


@dataclass(frozen=True, slots=True)
class FixedLength:
    """Pieces of ``length`` characters."""

    kind: ClassVar[str] = "fixed_length"
    length: int


@dataclass(frozen=True, slots=True)
class DigitGroups:
    """Splits runs of number characters into threes, counted from their right end; everything else stays (llama.cpp)."""

    kind: ClassVar[str] = "digit_groups"
    unicode: str | None = None


SplitStep = PatternSplit | Metaspace | PieceSpace | ByteLevel | ScriptSplit | FixedLength | DigitGroups
