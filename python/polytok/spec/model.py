"""The models, which convert a piece to ids."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal, TypeGuard

from ..columns import Column
from ..records import dataclass

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


@dataclass(frozen=True, eq=False)
class Bpe:
    """Byte-pair encoding. Among pairs of equal priority, the leftmost pair merges first.

    * ``priority``: the rule that determines which pairs can merge, and in which order. With ``merges``, only
      the pairs of a list can merge, in the order of the list. Otherwise, a pair can merge if its concatenation is an
      entry. With ``rank``, the pair whose entry has the lowest id merges first; with ``score``, the pair whose entry
      has the highest score.
    * ``symbols``: the symbols that merging starts from: single ``bytes``, SentencePiece's ``chars``, llama2.c's
      ``groups``, or Unicode ``scalars`` (Hugging Face; unknown scalars are replaced before merging).
    * ``whole_piece_first``: a piece that is an entry is encoded to its id without merging.
    * ``merges``: a uint32 array of shape (m, 3) whose rows have a left id, a right id and a merged id, in order of
      priority; None if ``priority`` is not ``merges``.
    * ``reserved``: vocabulary rows of every kind take part in merging (llama.cpp).
    * The other fields have an effect only with ``scalars``. ``continuing_prefix`` is added before every character of a
      piece except the first, and ``word_suffix`` after the last character. With ``byte_fallback``, unknown text is
      encoded to byte pieces if possible. With ``fuse_unknown``, adjacent unknown tokens are joined into one.
    """

    kind: ClassVar[str] = "bpe"
    priority: Literal["merges", "rank", "score"]
    symbols: Literal["bytes", "chars", "groups", "scalars"] = "bytes"
    whole_piece_first: bool = False
    merges: Column[npt.NDArray[np.uint32] | None] = Column(default=None, width=3)
    reserved: bool = False
    continuing_prefix: str = ""
    word_suffix: str = ""
    byte_fallback: bool = False
    fuse_unknown: bool = False

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Bpe):
            return NotImplemented
        has_same_merges = _are_equal_arrays(self.merges, other.merges)
        other_fields = [name for name in self.__match_args__ if name != "merges"]
        return has_same_merges and all(getattr(self, name) == getattr(other, name) for name in other_fields)

    __hash__ = None  # type: ignore[assignment]


def _are_equal_arrays(left: npt.NDArray[np.uint32] | None, right: npt.NDArray[np.uint32] | None) -> bool:
    if left is None or right is None:
        return left is right
    import numpy as np

    return np.array_equal(left, right)


@dataclass(frozen=True, slots=True)
class Unigram:
    """Unigram: a piece is encoded to the segmentation with the best sum of scores.

    ``rules`` names the program whose rules apply: SentencePiece (sums in float32), Hugging Face, or llama.cpp. By
    Hugging Face's rules, sums are in float64, entries of every kind match, and an unknown range is looked up in the
    vocabulary as a whole; with ``byte_fallback``, it is encoded to byte pieces if possible.
    """

    kind: ClassVar[str] = "unigram"
    rules: Literal["sentencepiece", "huggingface", "llama.cpp"] = "sentencepiece"
    byte_fallback: bool = False


@dataclass(frozen=True, slots=True)
class Longest:
    """Longest match: the next token is always the longest entry with which the remaining text begins (RWKV World)."""

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
    """WordPiece: the next token is always the longest entry with which the rest of the piece begins (BERT).

    After the first entry of a piece, entries are searched with ``continuing_prefix`` in front. A piece that entries
    cannot cover, or that has more than ``max_chars`` characters, is unknown as a whole. With ``phantom_space``, entries
    at the start of a word begin with U+2581 instead, and ``max_chars`` is None (llama.cpp's WPM).
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
    order_text = {"merges": "by a list", "rank": "by rank", "score": "by score"}[model.priority]
    return f"BPE of {model.symbols}, {order_text}"


def merges_bytes(model: Model) -> TypeGuard[Bpe]:
    """Reports whether a model is BPE that merges single bytes.

    >>> merges_bytes(Bpe("rank")), merges_bytes(Bpe("score", symbols="chars"))
    (True, False)
    """
    return isinstance(model, Bpe) and model.symbols == "bytes"


def is_sentencepiece(model: Model) -> bool:
    """Reports whether a model is SentencePiece's, which forms no control or unknown entry from text, and matches
    user-defined pieces before it runs.

    >>> is_sentencepiece(Bpe("score", symbols="chars")), is_sentencepiece(Unigram("llama.cpp"))
    (True, False)
    """
    if isinstance(model, Bpe):
        return model.symbols == "chars" and not model.reserved
    return isinstance(model, (Word, Char)) or (isinstance(model, Unigram) and model.rules == "sentencepiece")
