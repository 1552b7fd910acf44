"""The Spec: a tokenizer as plain, frozen, lossless data.

A format converts bytes to a Spec and a Spec to bytes; the engine is compiled only from a Spec. The fields follow the
pipeline: special, normalize, split, model, post, decode, over one vocab. What can be derived (merge tables from ranks,
tries, byte maps) is derived when the engine is compiled and never stored here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

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
from .model import Bpe, Char, Longest, Model, Plamo2, Unigram, Word, WordLevel, WordPiece, described
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
    "Line",
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
]

Line = Literal["0.2.1", "0.2.3"]
UnknownPolicy = Literal["error", "unk", "bytes", "drop"]

_PLAIN = Template()
_BYTES = BytesDecode()


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a Spec: the format's name, and the vocabulary's if it is known (``cl100k_base``)."""

    format: str
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Spec:
    """A tokenizer as plain data. Two Specs are equal when every part is.

    ``special`` are the special tokens beside the vocabulary; rows of kind CONTROL are special too. ``matching`` decides
    between several at one place: the ``longest``, the first ``listed``, or the longest of the whole text before any
    shorter one (``longest_first``, llama.cpp). The ``split`` steps run in turn, each on the pieces of the previous
    step. ``unknown`` is the treatment of text that no piece covers: an error, the piece of kind UNKNOWN, byte pieces,
    nothing. ``trim`` changes the spans of tokens. ``line`` is the SentencePiece release to follow if releases differ.
    ``names`` gives the ids of bos, eos, unk and pad if the format defines them. ``extra`` holds what a format carries
    and the engine does not need, by format.

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
    post: Template = _PLAIN
    trim: TrimOffsets | None = None
    decode: Decode = _BYTES
    line: Line = "0.2.3"
    names: Mapping[str, int] = field(default_factory=dict)
    origin: Origin = Origin("memory")
    extra: Mapping[str, Any] = field(default_factory=dict)
