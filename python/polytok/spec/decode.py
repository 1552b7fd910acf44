"""The decoders, which convert ids to text."""

from __future__ import annotations

from typing import ClassVar, Literal

from ..records import dataclass
from ..space_mark import SPACE_MARK
from .normalize import SentencePieceNormalize


@dataclass(frozen=True, slots=True)
class BytesDecode:
    """Concatenates the bytes of the tokens.

    With ``skips_unknown``, ids without a token print nothing, as in Hugging Face's decoding. Otherwise, ids without a
    token are an error, as in tiktoken's decoding.
    """

    kind: ClassVar[str] = "bytes"
    skips_unknown: bool = False


@dataclass(frozen=True, slots=True)
class SentencePieceDecode:
    """SentencePiece's decoding.

    ``add_dummy_prefix`` and ``remove_extra_whitespaces`` are equal to the normalizer's fields with these names.
    ``unk_surface`` is the text of the unknown token. ``denormalize`` is applied to the decoded text.
    """

    kind: ClassVar[str] = "sentencepiece"
    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    unk_surface: bytes = " \u2047 ".encode()
    denormalize: SentencePieceNormalize | None = None


@dataclass(frozen=True, slots=True)
class Llama2cDecode:
    """llama2.c's decoding, which removes one space after BOS, and converts a token ``<0xHH>`` to a byte."""

    kind: ClassVar[str] = "llama2c"


@dataclass(frozen=True, slots=True)
class ByteLevelDecode:
    """Converts the characters of GPT-2's table to the bytes that they represent."""

    kind: ClassVar[str] = "byte_level"


@dataclass(frozen=True, slots=True)
class BpeDecode:
    """Replaces ``suffix`` with a space, except in the last token, from which ``suffix`` is removed."""

    kind: ClassVar[str] = "bpe"
    suffix: str = "</w>"


@dataclass(frozen=True, slots=True)
class WordPieceDecode:
    """Joins tokens with spaces, except tokens that start with ``prefix``.

    ``cleanup`` repairs the spaces around English punctuation.
    """

    kind: ClassVar[str] = "wordpiece"
    prefix: str = "##"
    cleanup: bool = True


@dataclass(frozen=True, slots=True)
class MetaspaceDecode:
    """Replaces ``replacement`` with a space; unless ``prepend`` is ``never``, removes it from the first token."""

    kind: ClassVar[str] = "metaspace"
    replacement: str = SPACE_MARK
    prepend: Literal["always", "first", "never"] = "always"


@dataclass(frozen=True, slots=True)
class CtcDecode:
    """Replaces runs of equal tokens with one token, removes ``pad``, and replaces ``delimiter`` with a space.

    ``cleanup`` repairs the spaces around English punctuation.
    """

    kind: ClassVar[str] = "ctc"
    pad: str = "<pad>"
    delimiter: str = "|"
    cleanup: bool = True


@dataclass(frozen=True, slots=True)
class ReplaceDecode:
    """Replaces every match of ``pattern`` in a token with ``content``; the fields are those of `Replace`."""

    kind: ClassVar[str] = "replace"
    pattern: str
    content: str
    is_regex: bool = False
    unicode: str | None = None


@dataclass(frozen=True, slots=True)
class StripDecode:
    """Removes ``content`` up to ``start`` times from the start and up to ``stop`` times from the end of each token."""

    kind: ClassVar[str] = "strip"
    content: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class ByteFallbackDecode:
    """Decodes a run of ``<0xHH>`` tokens to characters; if the run is not UTF-8, decodes each byte to U+FFFD."""

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
    """Hugging Face's decoders: each step rewrites the list of tokens, and the result is concatenated.

    With ``steps=None`` the tokens are joined with spaces. Unknown ids are skipped. ``byte_level``: the entries of the
    vocabulary are bytes, which are converted to GPT-2's characters first.
    """

    kind: ClassVar[str] = "chain"
    steps: tuple[DecodeStep, ...] | None = None
    byte_level: bool = False


@dataclass(frozen=True, slots=True)
class LlamaCppDecode:
    """llama.cpp's detokenizer.

    ``family`` names the way in which the texts of tokens are written. ``strip_space`` removes one space from the first
    token.
    ``clean_spaces`` repairs the spaces around English punctuation. ``escaped_spaces``: in tokens of the family ``bpe``,
    U+2581 represents a space. Special tokens that the caller skips print nothing.
    """

    kind: ClassVar[str] = "llama.cpp"
    family: Literal["spm", "bpe", "wpm", "ugm", "rwkv", "plamo2"]
    strip_space: bool = False
    clean_spaces: bool = False
    escaped_spaces: bool = False


Decode = BytesDecode | SentencePieceDecode | Llama2cDecode | ChainDecode | LlamaCppDecode
