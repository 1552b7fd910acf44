"""The split steps, which split the text into pieces."""

from __future__ import annotations

from typing import ClassVar, Literal

from ..records import dataclass
from ..space_mark import SPACE_MARK
from .normalize import ByteLevel

Behavior = Literal["matches", "removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]


@dataclass(frozen=True, slots=True)
class PatternSplit:
    """Splits at the matches of a regular expression or of a plain text.

    ``behavior`` decides what happens to matches and to the gaps between them:

    * ``matches``: the matches are the pieces, the gaps are dropped (tiktoken, minbpe);
    * ``isolated``: both matches and gaps are pieces (llama.cpp; from here on, the names are Hugging Face's);
    * ``removed``: the gaps are the pieces, the matches are dropped;
    * ``merged_with_previous``, ``merged_with_next``: a match is joined to the gap before or after it;
    * ``contiguous``: like ``isolated``, but adjacent matches are one piece, and adjacent gaps are one piece.

    With ``invert``, matches count as gaps and gaps as matches. The pattern has the engine's syntax (fancy_regex).
    ``unicode`` is the version of the Unicode tables, such as "15.0"; None means the engine's own version.
    """

    kind: ClassVar[str] = "pattern"
    pattern: str
    behavior: Behavior = "matches"
    invert: bool = False
    is_regex: bool = True
    unicode: str | None = None


@dataclass(frozen=True, slots=True)
class Metaspace:
    """Replaces spaces with ``replacement``, and splits before each replacement if ``split`` is set.

    ``prepend`` adds the replacement before pieces that do not start with it: before every piece (``always``), before
    the first piece of a text (``first``), or before no piece (``never``).
    """

    kind: ClassVar[str] = "metaspace"
    replacement: str = SPACE_MARK
    prepend: Literal["always", "first", "never"] = "always"
    split: bool = True


@dataclass(frozen=True, slots=True)
class PieceSpace:
    """Adds a space before each piece that does not start with a space (ByteLevel's ``add_prefix_space``)."""

    kind: ClassVar[str] = "piece_space"


@dataclass(frozen=True, slots=True)
class ScriptSplit:
    """Splits at each change of script, like Hugging Face's UnicodeScripts."""

    kind: ClassVar[str] = "script"


@dataclass(frozen=True, slots=True)
class FixedLength:
    """Splits into pieces of ``length`` characters."""

    kind: ClassVar[str] = "fixed_length"
    length: int


@dataclass(frozen=True, slots=True)
class DigitGroups:
    """Splits runs of number characters into groups of three, from the right; does not split other text (llama.cpp)."""

    kind: ClassVar[str] = "digit_groups"
    unicode: str | None = None


SplitStep = PatternSplit | Metaspace | PieceSpace | ByteLevel | ScriptSplit | FixedLength | DigitGroups
