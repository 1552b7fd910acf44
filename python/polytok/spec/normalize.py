"""The normalizer steps, which rewrite the text before it is split."""

from __future__ import annotations

from typing import ClassVar, Literal

from ..records import dataclass


@dataclass(frozen=True, slots=True)
class SentencePieceNormalize:
    """SentencePiece's normalizer: the fields of its NormalizerSpec, and ``whitespace_as_suffix``."""

    kind: ClassVar[str] = "sentencepiece"
    charsmap: bytes = b""
    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    escape_whitespaces: bool = True
    whitespace_as_suffix: bool = False


@dataclass(frozen=True, slots=True)
class PrefixSpace:
    """Adds one space before every text that is not empty (llama2.c)."""

    kind: ClassVar[str] = "prefix_space"


@dataclass(frozen=True, slots=True)
class ReplaceInvalid:
    """Replaces every byte that is not part of a character with U+FFFD.

    With ``lenient``, characters are recognized as in llama.cpp, by lead byte and continuation bytes, so overlong
    encodings and surrogates count as characters.
    """

    kind: ClassVar[str] = "replace_invalid"
    lenient: bool = False


@dataclass(frozen=True, slots=True)
class BertNormalize:
    """Hugging Face's BertNormalizer; the fields are its options."""

    kind: ClassVar[str] = "bert"
    clean_text: bool = True
    handle_chinese_chars: bool = True
    strip_accents: bool = True
    lowercase: bool = True


@dataclass(frozen=True, slots=True)
class Strip:
    """Removes white space at the ends (Hugging Face)."""

    kind: ClassVar[str] = "strip"
    left: bool = True
    right: bool = True


@dataclass(frozen=True, slots=True)
class StripAccents:
    """Removes combining marks, without decomposing characters first (Hugging Face)."""

    kind: ClassVar[str] = "strip_accents"


@dataclass(frozen=True, slots=True)
class UnicodeForm:
    """Converts the text to a Unicode normalization form, with the tables of Hugging Face's crate (Unicode 9.0)."""

    kind: ClassVar[str] = "unicode"
    form: Literal["NFC", "NFD", "NFKC", "NFKD"]


@dataclass(frozen=True, slots=True)
class Lowercase:
    """Lower-cases every character without regard to adjacent characters (Hugging Face)."""

    kind: ClassVar[str] = "lowercase"


@dataclass(frozen=True, slots=True)
class Nmt:
    """Hugging Face's Nmt: removes control characters, and replaces unusual white space with a space."""

    kind: ClassVar[str] = "nmt"


@dataclass(frozen=True, slots=True)
class Precompiled:
    """Applies SentencePiece's charsmap by Hugging Face's rules: to each grapheme cluster, then to each character."""

    kind: ClassVar[str] = "precompiled"
    charsmap: bytes = b""


@dataclass(frozen=True, slots=True)
class Replace:
    """Replaces every match of ``pattern`` with ``content``.

    ``pattern`` is a text, or with ``is_regex`` a regular expression in the engine's syntax. ``unicode`` is the version
    of the expression's Unicode tables; None means the engine's own version.
    """

    kind: ClassVar[str] = "replace"
    pattern: str
    content: str
    is_regex: bool = False
    unicode: str | None = None


@dataclass(frozen=True, slots=True)
class Prepend:
    """Adds ``text`` before every text that is not empty (Hugging Face)."""

    kind: ClassVar[str] = "prepend"
    text: str


@dataclass(frozen=True, slots=True)
class ByteLevel:
    """Converts every byte to a visible character, by GPT-2's table of bytes."""

    kind: ClassVar[str] = "byte_level"


@dataclass(frozen=True, slots=True)
class UgmNormalize:
    """llama.cpp's normalizer for T5 vocabularies."""

    kind: ClassVar[str] = "ugm"
    charsmap: bytes = b""
    add_space_prefix: bool = False
    remove_extra_whitespaces: bool = False


@dataclass(frozen=True, slots=True)
class WpmNormalize:
    """llama.cpp's normalizer for BERT vocabularies; U+0000 separates the words."""

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
