"""How ids become text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ..space_mark import SPACE_MARK
from .normalize import SentencePieceNormalize


@dataclass(frozen=True, slots=True)
class BytesDecode:
    """The pieces' bytes, one after the other.

    With ``skips_unknown`` ids that no token has print nothing, as in Hugging Face's decoding; else they are an
    error, as in tiktoken's.
    """

    kind: ClassVar[str] = "bytes"
    skips_unknown: bool = False


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
    replacement: str = SPACE_MARK
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
    tokens with spaces. Ids that nothing knows are left out. Where the vocabulary is of bytes (``byte_level``), they
    become GPT-2's characters first."""

    kind: ClassVar[str] = "chain"
    steps: tuple[DecodeStep, ...] | None = None
    byte_level: bool = False


@dataclass(frozen=True, slots=True)
class LlamaCppDecode:
    """llama.cpp's detokenizer. ``family`` is how a token's text is written; ``strip_space`` takes one space off the
    first token; ``clean_spaces`` mends English punctuation. Special tokens print nothing where they are skipped."""

    kind: ClassVar[str] = "llama.cpp"
    family: Literal["spm", "bpe", "wpm", "ugm", "rwkv", "plamo2"]
    strip_space: bool = False
    clean_spaces: bool = False
    escaped_spaces: bool = False


Decode = BytesDecode | SentencePieceDecode | Llama2cDecode | ChainDecode | LlamaCppDecode
