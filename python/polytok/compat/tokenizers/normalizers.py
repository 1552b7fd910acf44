"""The normalizers of tokenizers 0.23: tokenizers.normalizers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from . import alone
from .arguments import text
from .component import Component, Field


class Normalizer(Component):
    """The base of all normalizers: tokenizers.normalizers.Normalizer."""

    family = "normalizer"

    def normalize_str(self, sequence: str) -> str:
        """Returns the normalized text."""
        return alone.normalize(self.__getstate__(), text(sequence))


class BertNormalizer(Normalizer):
    defaults: ClassVar[Mapping[str, Any]] = {
        "clean_text": True,
        "handle_chinese_chars": True,
        "strip_accents": None,
        "lowercase": True,
    }
    clean_text, handle_chinese_chars, strip_accents, lowercase = Field(), Field(), Field(), Field()


class NFC(Normalizer): ...


class NFD(Normalizer): ...


class NFKC(Normalizer): ...


class NFKD(Normalizer): ...


class Nmt(Normalizer): ...


class Lowercase(Normalizer): ...


class StripAccents(Normalizer): ...


class ByteLevel(Normalizer): ...


class Strip(Normalizer):
    defaults: ClassVar[Mapping[str, Any]] = {"strip_left": True, "strip_right": True}
    left, right = Field("strip_left"), Field("strip_right")


class Prepend(Normalizer):
    defaults: ClassVar[Mapping[str, Any]] = {"prepend": "▁"}
    prepend = Field()


class Replace(Normalizer):
    defaults: ClassVar[Mapping[str, Any]] = {"pattern": {"String": ""}, "content": ""}
    content = Field()


class Precompiled(Normalizer):
    defaults: ClassVar[Mapping[str, Any]] = {"precompiled_charsmap": ""}


class Sequence(Normalizer):
    defaults: ClassVar[Mapping[str, Any]] = {"normalizers": []}
    members = "normalizers"
