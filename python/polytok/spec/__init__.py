"""The Spec: a tokenizer as plain, frozen, lossless data.

A format converts the bytes of a file to a Spec, and a Spec to the bytes of a file. A tokenizer is compiled only from a
Spec. The fields of a Spec follow the stages of the pipeline: special, normalize, split, model, post, decode. All stages
share one vocabulary. Data that can be derived (merge tables from ranks, tries, byte maps) is derived when the tokenizer
is compiled, and is never stored in a Spec.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from ..records import dataclass, field
from .decode import (
    BpeDecode,
    ByteFallbackDecode,
    ByteLevelDecode,
    BytesDecode,
    ChainDecode,
    CtcDecode,
    Decode,
    DecodeStep,
    FuseDecode,
    Llama2cDecode,
    LlamaCppDecode,
    MetaspaceDecode,
    ReplaceDecode,
    SentencePieceDecode,
    StripDecode,
    WordPieceDecode,
)
from .model import (
    Bpe,
    Char,
    Longest,
    Model,
    Plamo2,
    Unigram,
    Word,
    WordLevel,
    WordPiece,
    described,
    is_sentencepiece,
    merges_bytes,
)
from .normalize import (
    BertNormalize,
    ByteLevel,
    Lowercase,
    Nmt,
    NormalizeStep,
    Precompiled,
    PrefixSpace,
    Prepend,
    Replace,
    ReplaceInvalid,
    SentencePieceNormalize,
    Strip,
    StripAccents,
    UgmNormalize,
    UnicodeForm,
    WpmNormalize,
)
from .post import Insert, Slot, Template, TemplatePart, TrimOffsets
from .special import Matching, SpecialToken
from .split import Behavior, DigitGroups, FixedLength, Metaspace, PatternSplit, PieceSpace, ScriptSplit, SplitStep
from .vocab import Kind, Vocab

__all__ = [
    "Behavior",
    "BertNormalize",
    "Bpe",
    "BpeDecode",
    "ByteFallbackDecode",
    "ByteLevel",
    "ByteLevelDecode",
    "BytesDecode",
    "ChainDecode",
    "Char",
    "CtcDecode",
    "Decode",
    "DecodeStep",
    "DigitGroups",
    "FixedLength",
    "FuseDecode",
    "Insert",
    "Kind",
    "Llama2cDecode",
    "LlamaCppDecode",
    "Longest",
    "Lowercase",
    "Matching",
    "Metaspace",
    "MetaspaceDecode",
    "Model",
    "Nmt",
    "NormalizeStep",
    "Origin",
    "PatternSplit",
    "PieceSpace",
    "Plamo2",
    "Precompiled",
    "PrefixSpace",
    "Prepend",
    "Replace",
    "ReplaceDecode",
    "ReplaceInvalid",
    "ScriptSplit",
    "SentencePieceDecode",
    "SentencePieceNormalize",
    "SentencePieceVersion",
    "Slot",
    "Spec",
    "SpecialToken",
    "SplitStep",
    "Strip",
    "StripAccents",
    "StripDecode",
    "Template",
    "TemplatePart",
    "TrimOffsets",
    "UgmNormalize",
    "UnicodeForm",
    "Unigram",
    "UnknownPolicy",
    "Vocab",
    "Word",
    "WordLevel",
    "WordPiece",
    "WordPieceDecode",
    "WpmNormalize",
    "described",
    "is_sentencepiece",
    "merges_bytes",
]

SentencePieceVersion = Literal["0.2.1", "0.2.3"]
UnknownPolicy = Literal["error", "unk", "bytes", "drop"]

_DEFAULT_TEMPLATE = Template()
_DEFAULT_DECODE = BytesDecode()


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a Spec: the file format, and the name of the vocabulary, such as ``cl100k_base``, if it is
    known."""

    format: str
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Spec:
    """A tokenizer as plain data. Two Specs are equal if all their fields are equal.

    * ``vocab`` and ``model``: the vocabulary, and the algorithm that converts pieces to ids.
    * ``special``: special tokens that are listed beside the vocabulary; vocabulary rows of kind CONTROL are special
      too.
    * ``matching``: the rule that selects a special token if several match: the ``longest`` token at an offset, the
      first ``listed`` token at an offset, or llama.cpp's ``longest_first``, which searches the whole text for longer
      tokens before shorter tokens.
    * ``normalize``: the steps that rewrite the text. ``split``: the steps that split the text; a step splits the pieces
      of the previous step.
    * ``unknown``: the treatment of text that no entry covers: an error (``error``), the piece of kind UNKNOWN
      (``unk``), byte pieces (``bytes``), or nothing (``drop``).
    * ``post``: the template of ids around a text. ``trim``: the white space that is excluded from the spans of tokens.
    * ``decode``: the conversion of ids to text.
    * ``sentencepiece_version``: the SentencePiece release to follow, for behaviour that differs between releases.
    * ``names``: the ids of bos, eos, unk and pad, if the format defines them.
    * ``origin``: the format and the name of the vocabulary. ``extra``: data that the engine does not need, by format.

    >>> import polytok
    >>> rows = [(bytes([byte]), byte, 0.0, Kind.NORMAL) for byte in range(256)]
    >>> spec = Spec(Vocab.from_rows([*rows, (b"ab", 256, 0.0, Kind.NORMAL)]), Bpe("rank"))
    >>> polytok.Tokenizer(spec).encode("abc")
    [256, 99]
    """

    vocab: Vocab
    model: Model
    special: tuple[SpecialToken, ...] = ()
    matching: Matching = "longest"
    normalize: tuple[NormalizeStep, ...] = ()
    split: tuple[SplitStep, ...] = ()
    unknown: UnknownPolicy = "error"
    post: Template = _DEFAULT_TEMPLATE
    trim: TrimOffsets | None = None
    decode: Decode = _DEFAULT_DECODE
    sentencepiece_version: SentencePieceVersion = "0.2.3"
    names: Mapping[str, int] = field(default_factory=dict)
    origin: Origin = Origin("memory")
    extra: Mapping[str, Any] = field(default_factory=dict)
