"""The normalizers of tokenizers 0.23: tokenizers.normalizers."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, ClassVar

from . import alone
from .arguments import boolean, text
from .component import Component, Field, component_of
from .in_python import normalize
from .normalized_string import NormalizedString, NormalizedStringRefMut
from .regex import Pattern, Regex, pattern_json


class Normalizer(Component):
    """The base of all normalizers: tokenizers.normalizers.Normalizer."""

    family = "normalizer"

    @staticmethod
    def custom(obj: object) -> Normalizer:
        """Returns a normalizer in Python: ``obj.normalize`` changes a `NormalizedString`."""
        normalizer: Normalizer = Normalizer.of_object(obj)
        return normalizer

    def normalize(self, normalized: NormalizedString) -> None:
        """Normalizes a text, which knows its original."""
        target = normalized.target() if isinstance(normalized, NormalizedStringRefMut) else normalized
        if not isinstance(target, NormalizedString):
            raise TypeError(f"'{type(target).__name__}' object is not an instance of 'NormalizedString'")
        normalize(self, target)

    def normalize_str(self, sequence: str) -> str:
        """Returns the normalized text."""
        if self.in_python():
            normalized = NormalizedString(sequence)
            normalize(self, normalized)
            return normalized.normalized
        return alone.normalize(self.__getstate__(), text(sequence))


class BertNormalizer(Normalizer):
    defaults: ClassVar[Mapping[str, Any]] = {
        "clean_text": True,
        "handle_chinese_chars": True,
        "strip_accents": None,
        "lowercase": True,
    }

    def __init__(
        self,
        clean_text: bool = True,
        handle_chinese_chars: bool = True,
        strip_accents: bool | None = None,
        lowercase: bool = True,
    ) -> None:
        self.fields = {
            "clean_text": boolean(clean_text),
            "handle_chinese_chars": boolean(handle_chinese_chars),
            "strip_accents": None if strip_accents is None else boolean(strip_accents),
            "lowercase": boolean(lowercase),
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

    def __init__(self, left: bool = True, right: bool = True) -> None:
        self.fields = {"strip_left": boolean(left), "strip_right": boolean(right)}


class Prepend(Normalizer):
    defaults: ClassVar[Mapping[str, Any]] = {"prepend": "▁"}
    prepend = Field()

    def __init__(self, prepend: str = "▁") -> None:
        self.fields = {"prepend": text(prepend)}


class Replace(Normalizer):
    defaults: ClassVar[Mapping[str, Any]] = {"pattern": {"String": ""}, "content": ""}
    new_arguments = (" ", "")
    pattern, content = Pattern(), Field()

    def __init__(self, pattern: str | Regex, content: str) -> None:
        self.fields = {"pattern": pattern_json(pattern), "content": text(content)}


class Precompiled(Normalizer):
    defaults: ClassVar[Mapping[str, Any]] = {"precompiled_charsmap": ""}

    def __init__(self, precompiled_charsmap: bytes) -> None:
        self.fields = {"precompiled_charsmap": base64.b64encode(bytes(precompiled_charsmap)).decode()}


class Sequence(Normalizer):
    defaults: ClassVar[Mapping[str, Any]] = {"normalizers": []}
    members = "normalizers"
    new_arguments = ([],)

    def __init__(self, normalizers: list[Normalizer]) -> None:
        self.fields["normalizers"] = [component_of(Normalizer, part) for part in normalizers]

    def __getitem__(self, index: int) -> Normalizer:
        part: Normalizer = self.fields["normalizers"][index]
        return part

    def __setitem__(self, index: int, value: Normalizer) -> None:
        self.fields["normalizers"][index] = component_of(Normalizer, value)
        self.changed()

    def __len__(self) -> int:
        return len(self.fields["normalizers"])


NORMALIZERS = {"nfc": NFC, "nfd": NFD, "nfkc": NFKC, "nfkd": NFKD}


def unicode_normalizer_from_str(normalizer: str) -> Normalizer:
    """Returns the Unicode normalizer of a name."""
    if normalizer not in NORMALIZERS:
        raise ValueError(f"{normalizer} is not a known unicode normalizer. Available are {NORMALIZERS.keys()}")
    made: Normalizer = NORMALIZERS[normalizer]()
    return made
