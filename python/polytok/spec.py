"""The Spec: a tokenizer as plain, frozen, lossless data.

A format turns bytes into a Spec and a Spec into bytes; the engine is compiled from a Spec and from nothing else. The
fields follow the pipeline: special, normalize, split, model, post, decode, over one vocab. What can be derived (merge
tables from ranks, tries, byte maps) is derived when the engine is compiled and never stored here.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

Line = Literal["0.2.1", "0.2.3"]
UnknownPolicy = Literal["error", "unk", "bytes", "drop"]
Matching = Literal["longest", "listed", "longest_first"]
Behavior = Literal["matches", "removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]


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

    ``offsets`` is uint32 of shape (n + 1,), ``ids`` uint32 (n,), ``scores`` float32 (n,) (float64 where the format has
    such), all zero where the format has none, ``kinds`` uint8 (n,) holding `Kind` numbers. ``active_kinds`` is None, or the kinds after a vocabulary
    restriction (uint8 (n,)).
    """

    blob: bytes
    offsets: npt.NDArray[np.uint32]
    ids: npt.NDArray[np.uint32]
    scores: npt.NDArray[np.float32] | npt.NDArray[np.float64]
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
    """A text that stands for one id before the rest of the pipeline sees it.

    A ``special`` one only where the caller allows it; any other always (Hugging Face's added tokens, llama.cpp's
    user-defined ones). ``single_word`` takes no match that touches a letter, digit or underscore, ``lstrip`` and
    ``rstrip`` take the white space on that side with it, ``normalized`` searches the normalized text for the normalized
    token. The text may also be a row of the vocabulary, with the same id.
    """

    text: str
    id: int
    special: bool = True
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool = False


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


@dataclass(frozen=True, slots=True)
class ReplaceInvalid:
    """Every byte that is part of no character becomes U+FFFD.

    ``lenient`` decodes as llama.cpp does: by lead byte and continuation bytes, so that overlong forms and surrogates pass.
    """

    kind: ClassVar[str] = "replace_invalid"
    lenient: bool = False


@dataclass(frozen=True, slots=True)
class BertNormalize:
    """Hugging Face's BertNormalizer."""

    kind: ClassVar[str] = "bert"
    clean_text: bool = True
    handle_chinese_chars: bool = True
    strip_accents: bool = True
    lowercase: bool = True


@dataclass(frozen=True, slots=True)
class Strip:
    """White space at the ends goes."""

    kind: ClassVar[str] = "strip"
    left: bool = True
    right: bool = True


@dataclass(frozen=True, slots=True)
class StripAccents:
    """Combining marks go."""

    kind: ClassVar[str] = "strip_accents"


@dataclass(frozen=True, slots=True)
class UnicodeForm:
    """A Unicode normalization form."""

    kind: ClassVar[str] = "unicode"
    form: Literal["NFC", "NFD", "NFKC", "NFKD"]


@dataclass(frozen=True, slots=True)
class Lowercase:
    """Every character by its own lower-case mapping."""

    kind: ClassVar[str] = "lowercase"


@dataclass(frozen=True, slots=True)
class Nmt:
    """Hugging Face's Nmt: control characters go, odd white space becomes a space."""

    kind: ClassVar[str] = "nmt"


@dataclass(frozen=True, slots=True)
class Precompiled:
    """SentencePiece's charsmap as Hugging Face applies it: by grapheme cluster, then by character."""

    kind: ClassVar[str] = "precompiled"
    charsmap: bytes = b""


@dataclass(frozen=True, slots=True)
class Replace:
    """Every match becomes ``content``. ``pattern`` is a text, or a regular expression in the engine's syntax if
    ``is_regex``, with the Unicode tables of version ``unicode`` (the engine's own if None)."""

    kind: ClassVar[str] = "replace"
    pattern: str
    content: str
    is_regex: bool = False
    unicode: str | None = None


@dataclass(frozen=True, slots=True)
class Prepend:
    """A text before every text that is not empty."""

    kind: ClassVar[str] = "prepend"
    text: str


@dataclass(frozen=True, slots=True)
class ByteLevel:
    """Every byte becomes a visible character, by GPT-2's table."""

    kind: ClassVar[str] = "byte_level"


@dataclass(frozen=True, slots=True)
class UgmNormalize:
    """llama.cpp's normalizer of its T5 vocabularies."""

    kind: ClassVar[str] = "ugm"
    charsmap: bytes = b""
    add_space_prefix: bool = False
    remove_extra_whitespaces: bool = False


@dataclass(frozen=True, slots=True)
class WpmNormalize:
    """llama.cpp's normalizer of its BERT vocabularies; U+0000 stands between the words."""

    kind: ClassVar[str] = "wpm"
    lowercase: bool = True
    strip_accents: bool = True


NormalizeStep = (
    SentencePieceNormalize
    | PrefixSpace
    | ReplaceInvalid
    | BertNormalize
    | Strip
    | StripAccents
    | UnicodeForm
    | Lowercase
    | Nmt
    | Precompiled
    | Replace
    | Prepend
    | ByteLevel
    | UgmNormalize
    | WpmNormalize
)


@dataclass(frozen=True, slots=True)
class PatternSplit:
    """Cuts at the matches of a regular expression (or of a plain text), left to right, first alternative first.

    ``behavior`` says what becomes of matches and of the gaps between them:

    * ``matches``: the matches are the pieces, the gaps are dropped (tiktoken, minbpe);
    * ``isolated``: both are pieces (llama.cpp, and Hugging Face's name for it, as the following are);
    * ``removed``: the gaps are the pieces, the matches are dropped;
    * ``merged_with_previous``, ``merged_with_next``: a match joins the gap before or behind it;
    * ``contiguous``: as isolated, but adjacent matches are one piece, and adjacent gaps too.

    ``invert`` swaps matches and gaps first. The pattern is in the engine's syntax (fancy_regex); ``unicode`` is the version
    of the Unicode tables, e.g. "15.0", None for the engine's own.
    """

    kind: ClassVar[str] = "pattern"
    pattern: str
    behavior: Behavior = "matches"
    invert: bool = False
    is_regex: bool = True
    unicode: str | None = None


@dataclass(frozen=True, slots=True)
class Metaspace:
    """Spaces become ``replacement``, which is also put before each piece (``always``) or only before one that starts the
    text (``first``), unless it starts with it; then, with ``split``, cuts before each."""

    kind: ClassVar[str] = "metaspace"
    replacement: str = "\u2581"
    prepend: Literal["always", "first", "never"] = "always"
    split: bool = True


@dataclass(frozen=True, slots=True)
class PieceSpace:
    """A space before each piece that does not start with one (ByteLevel's ``add_prefix_space``)."""

    kind: ClassVar[str] = "piece_space"


@dataclass(frozen=True, slots=True)
class ScriptSplit:
    """Cuts where the script changes, as Hugging Face's UnicodeScripts."""

    kind: ClassVar[str] = "script"


@dataclass(frozen=True, slots=True)
class FixedLength:
    """Pieces of ``length`` characters."""

    kind: ClassVar[str] = "fixed_length"
    length: int


@dataclass(frozen=True, slots=True)
class DigitGroups:
    """Runs of number characters are cut into threes, counted from their right end; everything else stays (llama.cpp)."""

    kind: ClassVar[str] = "digit_groups"
    unicode: str | None = None


SplitStep = PatternSplit | Metaspace | PieceSpace | ByteLevel | ScriptSplit | FixedLength | DigitGroups


@dataclass(frozen=True, slots=True, eq=False)
class Bpe:
    """Byte-pair encoding. A pair may merge when it is listed (``merges``), or when its concatenation is an entry, by
    the entry's id (``rank``, low first) or its score (``score``, high first); ties go to the leftmost.

    ``merges`` is uint32 of shape (m, 3): left id, right id, merged id, in order of priority; None for the other two.
    ``symbols`` is what merging starts from: single ``bytes``, SentencePiece's ``chars``, llama2.c's ``groups``, or
    Unicode ``scalars`` whose unknowns are settled before merging (Hugging Face). ``reserved``: rows of every kind take part
    in merging (llama.cpp). Only with ``scalars``: ``continuing_prefix`` goes before all but the first character of a
    piece and ``word_suffix`` behind the last; ``byte_fallback`` tries byte pieces before ``Spec.unknown``;
    ``fuse_unknown`` makes one of adjacent unknowns.
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
        mine, theirs = self.merges, other.merges
        same_merges = mine is theirs or (mine is not None and theirs is not None and np.array_equal(mine, theirs))
        rest = [name for name in self.__dataclass_fields__ if name != "merges"]
        return same_merges and all(getattr(self, name) == getattr(other, name) for name in rest)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class Unigram:
    """The segmentation with the best sum of scores, by the rules of SentencePiece (sums in float32), of Hugging Face
    (float64, every entry matches, unknown stretches are looked up again; ``byte_fallback``), or of llama.cpp."""

    kind: ClassVar[str] = "unigram"
    rules: Literal["sentencepiece", "huggingface", "llama.cpp"] = "sentencepiece"
    byte_fallback: bool = False


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


@dataclass(frozen=True, slots=True)
class WordPiece:
    """The longest entry that is a prefix of the piece, then of the rest with ``continuing_prefix`` before it; a piece that
    cannot be covered, or of more than ``max_chars`` characters, is unknown as a whole (Hugging Face). With ``phantom_space``
    entries of word starts begin with U+2581 instead (llama.cpp's WPM); ``max_chars`` is None there."""

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


@dataclass(frozen=True, slots=True)
class Insert:
    """Ids of a template that stand in no text."""

    ids: tuple[int, ...]
    type_id: int = 0


@dataclass(frozen=True, slots=True)
class Slot:
    """The place of the first (0) or the second (1) text in a template."""

    text: Literal[0, 1] = 0
    type_id: int = 0


TemplatePart = Insert | Slot


@dataclass(frozen=True, slots=True)
class Template:
    """What stands around one text, and around a pair of texts, when special tokens are asked for (``add_special=True``).
    Without, only the slots count."""

    single: tuple[TemplatePart, ...] = (Slot(0),)
    pair: tuple[TemplatePart, ...] = (Slot(0), Slot(1, 1))

    @property
    def before(self) -> tuple[int, ...]:
        """The ids before a single text."""
        slot = self.single.index(Slot(0)) if Slot(0) in self.single else len(self.single)
        return tuple(id for part in self.single[:slot] if isinstance(part, Insert) for id in part.ids)

    @property
    def after(self) -> tuple[int, ...]:
        """The ids behind a single text."""
        slot = self.single.index(Slot(0)) if Slot(0) in self.single else len(self.single)
        return tuple(id for part in self.single[slot:] if isinstance(part, Insert) for id in part.ids)

    @classmethod
    def around(cls, before: tuple[int, ...] = (), after: tuple[int, ...] = ()) -> Template:
        """Ids before and behind one text; a pair gets them around each of its texts."""
        ends = tuple((Insert(before),) if before else ()), tuple((Insert(after),) if after else ())
        first, second = (*ends[0], Slot(0), *ends[1]), (*ends[0], Slot(1), *ends[1])
        return cls(first, tuple(replace(part, type_id=int(n)) for n, side in enumerate((first, second)) for part in side))


@dataclass(frozen=True, slots=True)
class TrimOffsets:
    """Spans leave out the white space at the ends of tokens, but with ``add_prefix_space`` one space of the first."""

    add_prefix_space: bool = True


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


@dataclass(frozen=True, slots=True)
class ByteLevelDecode:
    """Characters of GPT-2's table become bytes."""

    kind: ClassVar[str] = "byte_level"


@dataclass(frozen=True, slots=True)
class BpeDecode:
    """``suffix`` becomes a space, and nothing in the last token."""

    kind: ClassVar[str] = "bpe"
    suffix: str = "</w>"


@dataclass(frozen=True, slots=True)
class WordPieceDecode:
    """Tokens are joined with spaces but for those that start with ``prefix``; ``cleanup`` mends English punctuation."""

    kind: ClassVar[str] = "wordpiece"
    prefix: str = "##"
    cleanup: bool = True


@dataclass(frozen=True, slots=True)
class MetaspaceDecode:
    """``replacement`` becomes a space; in the first token it goes, unless ``prepend`` is never."""

    kind: ClassVar[str] = "metaspace"
    replacement: str = "\u2581"
    prepend: Literal["always", "first", "never"] = "always"


@dataclass(frozen=True, slots=True)
class CtcDecode:
    """Repeated tokens become one, ``pad`` goes, ``delimiter`` becomes a space."""

    kind: ClassVar[str] = "ctc"
    pad: str = "<pad>"
    delimiter: str = "|"
    cleanup: bool = True


@dataclass(frozen=True, slots=True)
class ReplaceDecode:
    """Every match in a token becomes ``content``."""

    kind: ClassVar[str] = "replace"
    pattern: str
    content: str
    is_regex: bool = False
    unicode: str | None = None


@dataclass(frozen=True, slots=True)
class StripDecode:
    """Up to ``start`` and ``stop`` times ``content`` goes at the ends of a token."""

    kind: ClassVar[str] = "strip"
    content: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class ByteFallbackDecode:
    """Runs of ``<0xHH>`` become the characters of their bytes, or one U+FFFD for each byte if they are no UTF-8."""

    kind: ClassVar[str] = "byte_fallback"


@dataclass(frozen=True, slots=True)
class FuseDecode:
    """All tokens become one."""

    kind: ClassVar[str] = "fuse"


DecodeStep = (
    ByteLevelDecode
    | BpeDecode
    | WordPieceDecode
    | MetaspaceDecode
    | CtcDecode
    | ReplaceDecode
    | StripDecode
    | ByteFallbackDecode
    | FuseDecode
)


@dataclass(frozen=True, slots=True)
class ChainDecode:
    """Hugging Face's decoders: each step rewrites the list of tokens, which are put together at the end; None joins the
    tokens with spaces. Ids that nothing knows are left out. Where the vocabulary is of bytes (``byte_level``), they become
    GPT-2's characters first."""

    kind: ClassVar[str] = "chain"
    steps: tuple[DecodeStep, ...] | None = None
    byte_level: bool = False


@dataclass(frozen=True, slots=True)
class LlamaCppDecode:
    """llama.cpp's detokenizer. ``family`` is how a token's text is written; ``strip_space`` takes one space off the first
    token; ``clean_spaces`` mends English punctuation. Special tokens print nothing where they are skipped."""

    kind: ClassVar[str] = "llama.cpp"
    family: Literal["spm", "bpe", "wpm", "ugm", "rwkv", "plamo2"]
    strip_space: bool = False
    clean_spaces: bool = False
    escaped_spaces: bool = False


Decode = BytesDecode | SentencePieceDecode | Llama2cDecode | ChainDecode | LlamaCppDecode


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a Spec came from: the format's name, and the vocabulary's where it is known (``cl100k_base``)."""

    format: str
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Spec:
    """A tokenizer as plain data. Two Specs are equal when every part is.

    ``special`` are the special tokens beside the vocabulary; rows of kind CONTROL are special too. ``matching`` says which
    of several at one place counts: the ``longest``, the first ``listed``, or the longest of the whole text before any
    shorter one (``longest_first``, llama.cpp). The ``split`` steps follow one another, each on the pieces of the one before.
    ``unknown`` says what becomes of text that no piece covers: an error, the piece of kind UNKNOWN, byte pieces, nothing.
    ``trim`` changes the spans of tokens.
    ``line`` is the SentencePiece release followed where its lines differ. ``names`` gives the ids of bos, eos, unk and
    pad where the format defines them. ``extra`` holds what a format carries and the engine does not need, by format.
    """

    vocab: Vocab
    model: Model
    special: tuple[SpecialToken, ...] = ()
    matching: Matching = "longest"
    normalize: tuple[NormalizeStep, ...] = ()
    split: tuple[SplitStep, ...] = ()
    unknown: UnknownPolicy = "error"
    post: Template = Template()
    trim: TrimOffsets | None = None
    decode: Decode = BytesDecode()
    line: Line = "0.2.3"
    names: Mapping[str, int] = field(default_factory=dict)
    origin: Origin = Origin("memory")
    extra: Mapping[str, Any] = field(default_factory=dict)
