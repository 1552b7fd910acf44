"""The post-processors of tokenizers 0.23: tokenizers.processors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from .component import Component, Field
from .pre_tokenizers import BYTE_LEVEL


class PostProcessor(Component):
    """The base of all post-processors: tokenizers.processors.PostProcessor."""

    family = "post_processor"

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """Returns the number of tokens that the processor adds to a text, or to a pair."""
        return 0


class _Token(Field):
    """An attribute with a token and its id."""

    def read(self, value: Any) -> Any:
        return tuple(value)

    def write(self, value: Any) -> Any:
        return list(value)


class BertProcessing(PostProcessor):
    defaults: ClassVar[Mapping[str, Any]] = {"sep": ["[SEP]", 102], "cls": ["[CLS]", 101]}
    sep, cls = _Token(), _Token()

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        return 3 if is_pair else 2


class RobertaProcessing(PostProcessor):
    defaults: ClassVar[Mapping[str, Any]] = {
        "sep": ["</s>", 2],
        "cls": ["<s>", 0],
        "trim_offsets": True,
        "add_prefix_space": True,
    }
    sep, cls, trim_offsets, add_prefix_space = _Token(), _Token(), Field(), Field()

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        return 4 if is_pair else 2


class ByteLevel(PostProcessor):
    defaults: ClassVar[Mapping[str, Any]] = BYTE_LEVEL
    add_prefix_space, trim_offsets, use_regex = Field(), Field(), Field()


class TemplateProcessing(PostProcessor):
    defaults: ClassVar[Mapping[str, Any]] = {"single": [], "pair": [], "special_tokens": {}}

    def json(self) -> dict[str, Any]:
        return {**super().json(), "special_tokens": dict(sorted(self.fields["special_tokens"].items()))}

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        tokens = self.fields["special_tokens"]
        parts = self.fields["pair" if is_pair else "single"]
        return sum(len(tokens[part["SpecialToken"]["id"]]["ids"]) for part in parts if "SpecialToken" in part)


class Sequence(PostProcessor):
    defaults: ClassVar[Mapping[str, Any]] = {"processors": []}
    members = "processors"

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        return sum(part.num_special_tokens_to_add(is_pair) for part in self.fields["processors"])
