"""How ids are decoded to text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ..space_mark import SPACE_MARK
from .normalize import SentencePieceNormalize


@dataclass(frozen=True, slots=True)
class BytesDecode:
    """The concatenated bytes of the pieces.

    With ``skips_unknown`` ids without a token print nothing, as in Hugging Face's decoding; else they are an error, as
    in tiktoken's.
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
    """llama2.c's decoding: removes a space after BOS; ``<0x..>`` pieces are bytes."""

    kind: ClassVar[str] = "llama2c"


@dataclass(frozen=True, slots=True)
class ByteLevelDecode:
    """Converts characters of GPT-2's table to bytes."""

    kind: ClassVar[str] = "byte_level"


@dataclass(frozen=True, slots=True)
class BpeDecode:
    """Replaces ``suffix`` with a space, and removes it in the last token."""

    kind: ClassVar[str] = "bpe"
    suffix: str = "</w>"


@dataclass(frozen=True, slots=True)
class WordPieceDecode:
    """Joins tokens with spaces, except those that start with ``prefix``; ``cleanup`` repairs English punctuation."""

    kind: ClassVar[str] = "wordpiece"
    prefix: str = "##"
    cleanup: bool = True


@dataclass(frozen=True, slots=True)
class MetaspaceDecode:
    """Replaces ``replacement`` with a space; removes it in the first token, unless ``prepend`` is never."""

    kind: ClassVar[str] = "metaspace"
    replacement: str = SPACE_MARK
    prepend: Literal["always", "first", "never"] = "always"


@dataclass(frozen=True, slots=True)
class CtcDecode:
    """Collapses repeated tokens, removes ``pad``, and replaces ``delimiter`` with a space."""

    kind: ClassVar[str] = "ctc"
    pad: str = "<pad>"
    delimiter: str = "|"
    cleanup: bool = True


@dataclass(frozen=True, slots=True)
class ReplaceDecode:
    """Replaces every match in a token with ``content``."""

    kind: ClassVar[str] = "replace"
    pattern: str
    content: str
    is_regex: bool = False
    unicode: str | None = None


@dataclass(frozen=True, slots=True)
class StripDecode:
    """Removes up to ``start`` and ``stop`` times ``content`` at the two ends of a token."""

    kind: ClassVar[str] = "strip"
    content: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class ByteFallbackDecode:
    """Decodes runs of ``<0xHH>`` to characters, or to one U+FFFD for each byte if they are not UTF-8."""

    kind: ClassVar[str] = "byte_fallback"


@dataclass(frozen=True, slots=True)
class FuseDecode:
    """Joins all tokens into one."""

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
    """Hugging Face's decoders: each step rewrites the list of tokens, which are concatenated at the end; None joins the
    tokens with spaces. Unknown ids are skipped. If the vocabulary is of bytes (``byte_level``), the bytes become
    GPT-2's characters first.
    """

    kind: ClassVar[str] = "chain"
    steps: tuple[DecodeStep, ...] | None = None
    byte_level: bool = False


@dataclass(frozen=True, slots=True)
class LlamaCppDecode:
    """llama.cpp's detokenizer. ``family`` is how a token's text is written; ``strip_space`` removes one space from the
    first token; ``clean_spaces`` repairs English punctuation. Skipped special tokens print nothing.
    """

    kind: ClassVar[str] = "llama.cpp"
    family: Literal["spm", "bpe", "wpm", "ugm", "rwkv", "plamo2"]
    strip_space: bool = False
    clean_spaces: bool = False
    escaped_spaces: bool = False


Decode = BytesDecode | SentencePieceDecode | Llama2cDecode | ChainDecode | LlamaCppDecode
