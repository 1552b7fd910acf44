"""The models, which convert a piece to ids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


@dataclass(frozen=True, slots=True, eq=False)
class Bpe:
    """Byte-pair encoding. Among equally good pairs, the leftmost pair merges first.

    * ``priority``: the rule that determines which pairs can merge, and in which order. With ``merges``, these are the
      pairs of a list, in order. Otherwise, a pair can merge if the concatenation is an entry: with ``rank``, the entry
      with the lowest id is merged first; with ``score``, the entry with the highest score.
    * ``symbols``: the symbols that merging starts from: single ``bytes``, SentencePiece's ``chars``, llama2.c's
      ``groups``, or Unicode ``scalars`` (Hugging Face; unknown scalars are replaced before merging).
    * ``whole_piece_first``: a piece that is an entry is encoded to its id without merging.
    * ``merges``: a uint32 array of shape (m, 3) whose rows have a left id, a right id and a merged id, in order of
      priority; None if ``priority`` is not ``merges``.
    * ``reserved``: vocabulary rows of every kind take part in merging (llama.cpp).
    * Only with ``scalars``: ``continuing_prefix`` is added before every character of a piece except the first, and
      ``word_suffix`` after the last; ``byte_fallback`` tries byte pieces before ``Spec.unknown``; ``fuse_unknown``
      joins adjacent unknown tokens into one.
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
        other_fields = [name for name in self.__dataclass_fields__ if name != "merges"]
        return same_merges and all(getattr(self, name) == getattr(other, name) for name in other_fields)

    __hash__ = None  # type: ignore[assignment]


def _are_equal(left: npt.NDArray[np.uint32] | None, right: npt.NDArray[np.uint32] | None) -> bool:
    if left is None or right is None:
        return left is right
    import numpy as np

    return np.array_equal(left, right)


@dataclass(frozen=True, slots=True)
class Unigram:
    """The segmentation with the best sum of scores.

    ``rules`` names the program whose rules apply: SentencePiece (sums in float32), Hugging Face (sums in float64; every
    entry matches; the text of unknown ranges is searched in the vocabulary again; ``byte_fallback`` tries byte pieces),
    or llama.cpp.
    """

    kind: ClassVar[str] = "unigram"
    rules: Literal["sentencepiece", "huggingface", "llama.cpp"] = "sentencepiece"
    byte_fallback: bool = False


@dataclass(frozen=True, slots=True)
class Longest:
    """Longest match: repeatedly takes the longest entry that is a prefix of the remaining text (RWKV World)."""

    kind: ClassVar[str] = "longest"


@dataclass(frozen=True, slots=True)
class Word:
    """SentencePiece's WORD: every word between spaces is one piece."""

    kind: ClassVar[str] = "word"


@dataclass(frozen=True, slots=True)
class Char:
    """SentencePiece's CHAR: every character is one piece."""

    kind: ClassVar[str] = "char"


@dataclass(frozen=True, slots=True)
class WordPiece:
    """WordPiece: repeatedly takes the longest entry that is a prefix of the piece's remainder (Hugging Face, BERT).

    Inside a piece, an entry is searched with ``continuing_prefix`` in front. A piece that cannot be covered, or that
    has more than ``max_chars`` characters, is unknown as a whole. With ``phantom_space``, entries at the start of a
    word begin with U+2581 instead, and ``max_chars`` is None (llama.cpp's WPM).
    """

    kind: ClassVar[str] = "wordpiece"
    continuing_prefix: str = "##"
    max_chars: int | None = 100
    phantom_space: bool = False


@dataclass(frozen=True, slots=True)
class WordLevel:
    """Word level: a piece that is an entry has the entry's id; any other piece is unknown (Hugging Face)."""

    kind: ClassVar[str] = "word_level"


@dataclass(frozen=True, slots=True)
class Plamo2:
    """PLaMo-2's model: the best path over characters by integer scores, from the end of the text (llama.cpp)."""

    kind: ClassVar[str] = "plamo2"


Model = Bpe | Unigram | Longest | Word | Char | WordPiece | WordLevel | Plamo2


def described(model: Model) -> str:
    """Describes a model in a few words.

    >>> described(Bpe("rank"))
    'BPE of bytes, by rank'
    """
    if not isinstance(model, Bpe):
        rules = f" by the rules of {model.rules}" if isinstance(model, Unigram) else ""
        return type(model).__name__ + rules
    order = {"merges": "by a list", "rank": "by rank", "score": "by score"}[model.priority]
    return f"BPE of {model.symbols}, {order}"
