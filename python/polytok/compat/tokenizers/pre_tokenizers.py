"""The pre-tokenizers of tokenizers 0.23: tokenizers.pre_tokenizers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ...byte_level import CHARACTERS
from . import alone
from .arguments import boolean, text, unsigned
from .component import Component, Field, component_of
from .in_python import pre_tokenize
from .pre_tokenized_string import PreTokenizedString, PreTokenizedStringRefMut
from .regex import Behavior, Pattern, Regex, behavior_json, pattern_json

BYTE_LEVEL: Mapping[str, Any] = {"add_prefix_space": True, "trim_offsets": True, "use_regex": True}
METASPACE: Mapping[str, Any] = {"replacement": "▁", "prepend_scheme": "always", "split": True}


def byte_level_fields(add_prefix_space: bool, trim_offsets: bool, use_regex: bool) -> dict[str, Any]:
    """Returns the JSON of the fields of ByteLevel."""
    return {
        "add_prefix_space": boolean(add_prefix_space),
        "trim_offsets": boolean(trim_offsets),
        "use_regex": boolean(use_regex),
    }


def metaspace_fields(replacement: str, prepend_scheme: str, split: bool) -> dict[str, Any]:
    """Returns the JSON of the fields of Metaspace."""
    return {
        "replacement": character(replacement),
        "prepend_scheme": scheme_name(prepend_scheme),
        "split": boolean(split),
    }


def character(value: object) -> str:
    """Returns a text of one character, or raises an error."""
    if len(text(value)) != 1:
        raise ValueError("expected a string of length 1")
    return str(value)


def scheme_name(scheme: object) -> str:
    """Returns the name of a prepend scheme; raises an error for other values."""
    if scheme not in ("always", "first", "never"):
        raise Exception(f"{scheme} is an unknown variant, should be one of ['first', 'never', 'always']")
    return str(scheme)


class Scheme(Field):
    """An attribute with a prepend scheme."""

    def write(self, value: Any) -> Any:
        return scheme_name(value)


class PreTokenizer(Component):
    """The base of all pre-tokenizers: tokenizers.pre_tokenizers.PreTokenizer."""

    family = "pre_tokenizer"

    @staticmethod
    def custom(pretok: object) -> PreTokenizer:
        """Returns a pre-tokenizer in Python: ``pretok.pre_tokenize`` splits a `PreTokenizedString`."""
        pre_tokenizer: PreTokenizer = PreTokenizer.of_object(pretok)
        return pre_tokenizer

    def pre_tokenize(self, pretok: PreTokenizedString) -> None:
        """Splits a text, which knows its original."""
        target = pretok.target() if isinstance(pretok, PreTokenizedStringRefMut) else pretok
        if not isinstance(target, PreTokenizedString):
            raise TypeError(f"'{type(target).__name__}' object is not an instance of 'PreTokenizedString'")
        pre_tokenize(self, target)

    def pre_tokenize_str(self, sequence: str) -> list[tuple[str, tuple[int, int]]]:
        """Returns the pieces of a text, each with its range of characters."""
        if self.in_python():
            pretok = PreTokenizedString(sequence)
            pre_tokenize(self, pretok)
            return [(piece, span) for piece, span, _ in pretok.get_splits()]
        return alone.pre_tokenize(self.__getstate__(), text(sequence))


class ByteLevel(PreTokenizer):
    defaults: ClassVar[Mapping[str, Any]] = BYTE_LEVEL
    add_prefix_space, trim_offsets, use_regex = Field(), Field(), Field()

    def __init__(
        self, add_prefix_space: bool = True, trim_offsets: bool = True, use_regex: bool = True, **_kwargs: object
    ) -> None:
        self.fields = byte_level_fields(add_prefix_space, trim_offsets, use_regex)

    @staticmethod
    def alphabet() -> list[str]:
        """Returns the characters that stand for bytes."""
        return list(CHARACTERS)


class Whitespace(PreTokenizer): ...


class WhitespaceSplit(PreTokenizer): ...


class BertPreTokenizer(PreTokenizer): ...


class UnicodeScripts(PreTokenizer): ...


class Split(PreTokenizer):
    defaults: ClassVar[Mapping[str, Any]] = {"pattern": {"String": ""}, "behavior": "Removed", "invert": False}
    new_arguments = (" ", "removed")
    pattern, behavior, invert = Pattern(), Behavior(), Field()

    def __init__(self, pattern: str | Regex, behavior: str, invert: bool = False) -> None:
        self.fields = {
            "pattern": pattern_json(pattern),
            "behavior": behavior_json(behavior),
            "invert": boolean(invert),
        }


class CharDelimiterSplit(PreTokenizer):
    defaults: ClassVar[Mapping[str, Any]] = {"delimiter": " "}
    new_arguments = (" ",)
    delimiter = Field()

    def __init__(self, delimiter: str) -> None:
        self.fields = {"delimiter": character(delimiter)}


class Metaspace(PreTokenizer):
    defaults: ClassVar[Mapping[str, Any]] = METASPACE
    replacement, prepend_scheme, split = Field(), Scheme(), Field()

    def __init__(self, replacement: str = "▁", prepend_scheme: str = "always", split: bool = True) -> None:
        self.fields = metaspace_fields(replacement, prepend_scheme, split)


class Punctuation(PreTokenizer):
    defaults: ClassVar[Mapping[str, Any]] = {"behavior": "Isolated"}
    behavior = Behavior()

    def __init__(self, behavior: str = "isolated") -> None:
        self.fields = {"behavior": behavior_json(behavior)}


class Digits(PreTokenizer):
    defaults: ClassVar[Mapping[str, Any]] = {"individual_digits": False}
    individual_digits = Field()

    def __init__(self, individual_digits: bool = False) -> None:
        self.fields = {"individual_digits": boolean(individual_digits)}


class FixedLength(PreTokenizer):
    defaults: ClassVar[Mapping[str, Any]] = {"length": 5}
    length = Field()

    def __init__(self, length: int = 5) -> None:
        self.fields = {"length": unsigned(length)}


class Sequence(PreTokenizer):
    defaults: ClassVar[Mapping[str, Any]] = {"pretokenizers": []}
    members = "pretokenizers"
    new_arguments = ([],)

    def __init__(self, pre_tokenizers: list[PreTokenizer]) -> None:
        self.fields["pretokenizers"] = [component_of(PreTokenizer, part) for part in pre_tokenizers]

    def __getitem__(self, index: int) -> PreTokenizer:
        part: PreTokenizer = self.fields["pretokenizers"][index]
        return part

    def __setitem__(self, index: int, value: PreTokenizer) -> None:
        self.fields["pretokenizers"][index] = component_of(PreTokenizer, value)
        self.changed()
