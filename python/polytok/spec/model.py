"""How a piece is converted to ids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


@dataclass(frozen=True, slots=True, eq=False)
class Bpe:
    """Byte-pair encoding. A pair can merge if it is listed (``merges``), or if its concatenation is an entry, by the
    entry's id (``rank``, low first) or its score (``score``, high first); ties go to the leftmost.

    ``merges`` is uint32 of shape (m, 3): left id, right id, merged id, in order of priority; None for the other two.
    ``symbols`` is what merging starts from: single ``bytes``, SentencePiece's ``chars``, llama2.c's ``groups``, or
    Unicode ``scalars`` whose unknowns are settled before merging (Hugging Face). ``reserved``: rows of every kind
    take part in merging (llama.cpp). Only with ``scalars``: ``continuing_prefix`` goes before all but the first
    character of a piece and ``word_suffix`` after the last; ``byte_fallback`` tries byte pieces before
    ``Spec.unknown``; ``fuse_unknown`` joins adjacent unknowns into one.
    """

    kind: ClassVar[str] = "bpe"
    priority: Literal["merges", "rank", "score"]
    symbols: Literal["bytes", "chars", "groups", "scalars"] = "bytes"
    whole_piece_first: bool = False
    merges: npt.NDArray[np.uint32] | None = None
    reserved: bool = False
    continuing_prefix: str = ""
    word_suffix: str = ""
    byte_fallback: bool = False
    fuse_unknown: bool = False

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Bpe):
            return NotImplemented
        same_merges = _are_equal(self.merges, other.merges)
        rest = [name for name in self.__dataclass_fields__ if name != "merges"]
        return same_merges and all(getattr(self, name) == getattr(other, name) for name in rest)

    __hash__ = None  # type: ignore[assignment]


def _are_equal(mine: npt.NDArray[np.uint32] | None, theirs: npt.NDArray[np.uint32] | None) -> bool:
    if mine is None or theirs is None:
        return mine is theirs
    import numpy as np

    return np.array_equal(mine, theirs)


@dataclass(frozen=True, slots=True)
class Unigram:
    """The segmentation with the best sum of scores, by the rules of SentencePiece (sums in float32), of Hugging Face
    (float64, every entry matches, ranges of unknown text are looked up again; ``byte_fallback``), or of llama.cpp.
    """

    kind: ClassVar[str] = "unigram"
    rules: Literal["sentencepiece", "huggingface", "llama.cpp"] = "sentencepiece"
    byte_fallback: bool = False


@dataclass(frozen=True, slots=True)
class Longest:
    """Repeatedly takes the longest entry that is a prefix of the remainder (RWKV World)."""

    kind: ClassVar[str] = "longest"


@dataclass(frozen=True, slots=True)
class Word:
    """SentencePiece WORD: each run of text between spaces is one piece."""

    kind: ClassVar[str] = "word"


@dataclass(frozen=True, slots=True)
class Char:
    """SentencePiece CHAR: every character is one piece."""

    kind: ClassVar[str] = "char"


@dataclass(frozen=True, slots=True)
class WordPiece:
    """Takes the longest entry that is a prefix of the piece, then of the remainder with ``continuing_prefix`` before
    it; a piece that cannot be covered, or of more than ``max_chars`` characters, is unknown as a whole (Hugging Face).
    With ``phantom_space`` entries of word starts begin with U+2581 instead (llama.cpp's WPM), and ``max_chars`` is
    None.
    """

    kind: ClassVar[str] = "wordpiece"
    continuing_prefix: str = "##"
    max_chars: int | None = 100
    phantom_space: bool = False


@dataclass(frozen=True, slots=True)
class WordLevel:
    """A piece is an entry, or unknown (Hugging Face)."""

    kind: ClassVar[str] = "word_level"


@dataclass(frozen=True, slots=True)
class Plamo2:
    """PLaMo-2's: the best path over characters by integer scores, from the end of the text (llama.cpp)."""

    kind: ClassVar[str] = "plamo2"


Model = Bpe | Unigram | Longest | Word | Char | WordPiece | WordLevel | Plamo2


def described(model: Model) -> str:
    """A model in a few words.

    >>> described(Bpe("rank"))
    'BPE of bytes, by rank'
    """
    if not isinstance(model, Bpe):
        rules = f" by the rules of {model.rules}" if isinstance(model, Unigram) else ""
        return type(model).__name__ + rules
    how = {"merges": "by a list", "rank": "by rank", "score": "by score"}[model.priority]
    return f"BPE of {model.symbols}, {how}"
