"""The pre-tokenizers of tokenizers 0.23: tokenizers.pre_tokenizers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from . import alone
from .arguments import text
from .component import Component, Field

BYTE_LEVEL: Mapping[str, Any] = {"add_prefix_space": True, "trim_offsets": True, "use_regex": True}
METASPACE: Mapping[str, Any] = {"replacement": "▁", "prepend_scheme": "always", "split": True}


class PreTokenizer(Component):
    """The base of all pre-tokenizers: tokenizers.pre_tokenizers.PreTokenizer."""

    family = "pre_tokenizer"

    def pre_tokenize_str(self, sequence: str) -> list[tuple[str, tuple[int, int]]]:
        """Returns the pieces of a text, each with its range of characters."""
        return alone.pre_tokenize(self.__getstate__(), text(sequence))


class ByteLevel(PreTokenizer):
    defaults: ClassVar[Mapping[str, Any]] = BYTE_LEVEL
    add_prefix_space, trim_offsets, use_regex = Field(), Field(), Field()


class Whitespace(PreTokenizer): ...


class WhitespaceSplit(PreTokenizer): ...


class BertPreTokenizer(PreTokenizer): ...


class UnicodeScripts(PreTokenizer): ...


class Split(PreTokenizer):
    defaults: ClassVar[Mapping[str, Any]] = {"pattern": {"String": ""}, "behavior": "Removed", "invert": False}
    invert = Field()


class CharDelimiterSplit(PreTokenizer):
    defaults: ClassVar[Mapping[str, Any]] = {"delimiter": " "}
    delimiter = Field()


class Metaspace(PreTokenizer):
    defaults: ClassVar[Mapping[str, Any]] = METASPACE
    replacement, prepend_scheme, split = Field(), Field(), Field()


class Punctuation(PreTokenizer):
    defaults: ClassVar[Mapping[str, Any]] = {"behavior": "Isolated"}


class Digits(PreTokenizer):
    defaults: ClassVar[Mapping[str, Any]] = {"individual_digits": False}
    individual_digits = Field()


class FixedLength(PreTokenizer):
    defaults: ClassVar[Mapping[str, Any]] = {"length": 5}
    length = Field()


class Sequence(PreTokenizer):
    defaults: ClassVar[Mapping[str, Any]] = {"pretokenizers": []}
    members = "pretokenizers"
