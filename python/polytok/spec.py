"""The Spec: a tokenizer as plain, frozen, lossless data.

A format turns bytes into a Spec and a Spec into bytes; the engine is compiled from a Spec and from nothing else. The
fields follow the pipeline: special, normalize, split, model, post, decode, over one vocab. What can be derived (merge
tables from ranks, tries, byte maps) is derived when the engine is compiled and never stored here.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

Line = Literal["0.2.1", "0.2.3"]
UnknownPolicy = Literal["error", "unk", "bytes"]


class Kind(IntEnum):
    """What a vocabulary entry is; the numbers are SentencePiece's and GGUF's."""

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


@dataclass(frozen=True, slots=True, eq=False)
class Vocab:
    """The vocabulary in columns, in file order; row i is ``blob[offsets[i]:offsets[i + 1]]``.

    ``offsets`` is uint32 of shape (n + 1,), ``ids`` uint32 (n,), ``scores`` float32 (n,), all zero where the format has
    none, ``kinds`` uint8 (n,) holding `Kind` numbers. ``active_kinds`` is None, or the kinds after a vocabulary
    restriction (uint8 (n,)).
    """

    blob: bytes
    offsets: npt.NDArray[np.uint32]
    ids: npt.NDArray[np.uint32]
    scores: npt.NDArray[np.float32]
    kinds: npt.NDArray[np.uint8]
    active_kinds: npt.NDArray[np.uint8] | None = None

    @classmethod
    def from_rows(cls, rows: Iterable[tuple[bytes, int, float, int]]) -> Vocab:
        """Build the columns from (bytes, id, score, kind) rows.

        >>> len(Vocab.from_rows([(b"a", 0, 0.0, Kind.NORMAL), (b"b", 1, 0.0, Kind.NORMAL)]))
        2
        """
        listed = list(rows)
        ends = np.cumsum([0, *(len(row[0]) for row in listed)], dtype=np.uint64)
        return cls(
            blob=b"".join(row[0] for row in listed),
            offsets=ends.astype(np.uint32),
            ids=np.array([row[1] for row in listed], dtype=np.uint32),
            scores=np.array([row[2] for row in listed], dtype=np.float32),
            kinds=np.array([row[3] for row in listed], dtype=np.uint8),
        )

    def __len__(self) -> int:
        return len(self.ids)

    def piece(self, row: int) -> bytes:
        """The bytes of a row."""
        return self.blob[self.offsets[row] : self.offsets[row + 1]]

    def pieces(self) -> list[bytes]:
        """The bytes of all rows, in row order."""
        ends = self.offsets.tolist()
        return [self.blob[a:b] for a, b in itertools.pairwise(ends)]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vocab):
            return NotImplemented
        return self.blob == other.blob and all(
            np.array_equal(getattr(self, name), getattr(other, name), equal_nan=name == "scores")
            if getattr(self, name) is not None and getattr(other, name) is not None
            else getattr(self, name) is getattr(other, name)
            for name in ("offsets", "ids", "scores", "kinds", "active_kinds")
        )

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class SpecialToken:
    """A text that stands for one id where the caller allows it, and is not a row of the vocabulary."""

    text: str
    id: int


@dataclass(frozen=True, slots=True)
class SentencePieceNormalize:
    """SentencePiece's normalizer: the fields of NormalizerSpec that shape the output, and the suffix mode."""

    kind: ClassVar[str] = "sentencepiece"
    charsmap: bytes = b""
    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    escape_whitespaces: bool = True
    whitespace_as_suffix: bool = False


@dataclass(frozen=True, slots=True)
class PrefixSpace:
    """One space before every text that is not empty (llama2.c)."""

    kind: ClassVar[str] = "prefix_space"


NormalizeStep = SentencePieceNormalize | PrefixSpace


@dataclass(frozen=True, slots=True)
class PatternSplit:
    """Pieces are the matches of a regular expression, left to right; text that it does not match is dropped."""

    kind: ClassVar[str] = "pattern"
    pattern: str


SplitStep = PatternSplit


@dataclass(frozen=True, slots=True, eq=False)
class Bpe:
    """Byte-pair encoding. A pair may merge when it is listed (``merges``), or when its concatenation is an entry, by
    the entry's id (``rank``, low first) or its score (``score``, high first); ties go to the leftmost.

    ``merges`` is uint32 of shape (m, 3): left id, right id, merged id, in order of priority; None for the other two.
    ``symbols`` is what merging starts from: single bytes, SentencePiece's characters, or llama2.c's groups.
    """

    kind: ClassVar[str] = "bpe"
    priority: Literal["merges", "rank", "score"]
    symbols: Literal["bytes", "chars", "groups"] = "bytes"
    whole_piece_first: bool = False
    merges: npt.NDArray[np.uint32] | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Bpe):
            return NotImplemented
        mine, theirs = self.merges, other.merges
        same_merges = mine is theirs or (mine is not None and theirs is not None and np.array_equal(mine, theirs))
        return same_merges and (self.priority, self.symbols, self.whole_piece_first) == (
            other.priority,
            other.symbols,
            other.whole_piece_first,
        )

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class Unigram:
    """The segmentation with the best sum of scores."""

    kind: ClassVar[str] = "unigram"


@dataclass(frozen=True, slots=True)
class Longest:
    """The longest entry that is a prefix of the rest, again and again (RWKV World)."""

    kind: ClassVar[str] = "longest"


@dataclass(frozen=True, slots=True)
class Word:
    """SentencePiece WORD: what lies between spaces is one piece."""

    kind: ClassVar[str] = "word"


@dataclass(frozen=True, slots=True)
class Char:
    """SentencePiece CHAR: every character is one piece."""

    kind: ClassVar[str] = "char"


Model = Bpe | Unigram | Longest | Word | Char


@dataclass(frozen=True, slots=True)
class Template:
    """Ids put around the text when special tokens are asked for (``add_special=True``)."""

    before: tuple[int, ...] = ()
    after: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class BytesDecode:
    """The pieces' bytes, one after the other."""

    kind: ClassVar[str] = "bytes"


@dataclass(frozen=True, slots=True)
class SentencePieceDecode:
    """SentencePiece's decoding; the two flags are the normalizer's. ``denormalize`` runs over the decoded text."""

    kind: ClassVar[str] = "sentencepiece"
    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    unk_surface: bytes = " \u2047 ".encode()
    denormalize: SentencePieceNormalize | None = None


@dataclass(frozen=True, slots=True)
class Llama2cDecode:
    """llama2.c's decoding: a space after BOS goes, ``<0x..>`` pieces are bytes."""

    kind: ClassVar[str] = "llama2c"


Decode = BytesDecode | SentencePieceDecode | Llama2cDecode


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a Spec came from: the format's name, and the vocabulary's where it is known (``cl100k_base``)."""

    format: str
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Spec:
    """A tokenizer as plain data. Two Specs are equal when every part is.

    ``special`` are the special tokens that are not rows of the vocabulary; rows of kind CONTROL are special too.
    ``unknown`` says what becomes of text that no piece covers: an error, the piece of kind UNKNOWN, or byte pieces.
    ``line`` is the SentencePiece release followed where its lines differ. ``names`` gives the ids of bos, eos, unk and
    pad where the format defines them. ``extra`` holds what a format carries and the engine does not need, by format.
    """

    vocab: Vocab
    model: Model
    special: tuple[SpecialToken, ...] = ()
    normalize: tuple[NormalizeStep, ...] = ()
    split: tuple[SplitStep, ...] = ()
    unknown: UnknownPolicy = "error"
    post: Template = Template()
    decode: Decode = BytesDecode()
    line: Line = "0.2.3"
    names: Mapping[str, int] = field(default_factory=dict)
    origin: Origin = Origin("memory")
    extra: Mapping[str, Any] = field(default_factory=dict)
