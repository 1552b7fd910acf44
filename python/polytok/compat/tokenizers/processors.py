"""The post-processors of tokenizers 0.23: tokenizers.processors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar

from .arguments import boolean, id_number, text
from .component import Component, Field, component_of
from .encoding import Columns, Encoding, encoding_of_columns
from .pre_tokenizers import BYTE_LEVEL, byte_level_fields
from .processing import apply_template, process, trim
from .templates import template_json, tokens_json


class PostProcessor(Component):
    """The base of all post-processors: tokenizers.processors.PostProcessor."""

    family = "post_processor"

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """Returns the number of tokens that the processor adds to a text, or to a pair."""
        return 0

    def processed(self, texts: list[Columns], add_special_tokens: bool) -> list[Columns]:
        """Returns the encodings of one or two texts, and of the processor's tokens, in order."""
        raise NotImplementedError

    def process(self, encoding: Encoding, pair: Encoding | None = None, add_special_tokens: bool = True) -> Encoding:
        """Returns the processed encoding of a text or a pair."""
        texts = [part.columns().copy() for part in (encoding, pair) if part is not None]
        return encoding_of_columns(process(self, texts, boolean(add_special_tokens)))


class _Token(Field):
    """An attribute with a token and its id."""

    def read(self, value: Any) -> Any:
        return tuple(value)

    def write(self, value: Any) -> Any:
        return _token_json(value)


def _token_json(value: object) -> list[Any]:
    """Returns the JSON of a token and its id."""
    if not isinstance(value, tuple) or len(value) != 2:
        raise TypeError(f"'{type(value).__name__}' object is not an instance of 'tuple'")
    return [text(value[0]), id_number(value[1])]


def _cls_and_sep(processor: PostProcessor) -> dict[str, dict[str, Any]]:
    """Returns the tokens of BertProcessing and RobertaProcessing as those of a template."""
    tokens = {name: processor.fields[name] for name in ("cls", "sep")}
    return {name: {"ids": [id], "tokens": [token]} for name, (token, id) in tokens.items()}


def _special(name: str, type_id: int = 0) -> dict[str, Any]:
    return {"SpecialToken": {"id": name, "type_id": type_id}}


def _text(name: str, type_id: int = 0) -> dict[str, Any]:
    return {"Sequence": {"id": name, "type_id": type_id}}


# The template of a pair; that of a text is its start.
_BERT = [_special("cls"), _text("A"), _special("sep"), _text("B", 1), _special("sep", 1)]
_ROBERTA = [_special("cls"), _text("A"), _special("sep"), _special("sep"), _text("B"), _special("sep")]


class BertProcessing(PostProcessor):
    defaults: ClassVar[Mapping[str, Any]] = {"sep": ["[SEP]", 102], "cls": ["[CLS]", 101]}
    new_arguments = (("", 0), ("", 0))
    sep, cls = _Token(), _Token()

    def __init__(self, sep: tuple[str, int], cls_token: tuple[str, int]) -> None:
        self.fields = {"sep": _token_json(sep), "cls": _token_json(cls_token)}

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        return 3 if is_pair else 2

    def processed(self, texts: list[Columns], add_special_tokens: bool) -> list[Columns]:
        return apply_template(_BERT[: 2 + len(texts) * 2 - 1], _cls_and_sep(self), texts, add_special_tokens)


class RobertaProcessing(PostProcessor):
    defaults: ClassVar[Mapping[str, Any]] = {
        "sep": ["</s>", 2],
        "cls": ["<s>", 0],
        "trim_offsets": True,
        "add_prefix_space": True,
    }
    new_arguments = (("", 0), ("", 0))
    sep, cls, trim_offsets, add_prefix_space = _Token(), _Token(), Field(), Field()

    def __init__(
        self,
        sep: tuple[str, int],
        cls_token: tuple[str, int],
        trim_offsets: bool = True,
        add_prefix_space: bool = True,
    ) -> None:
        self.fields = {
            "sep": _token_json(sep),
            "cls": _token_json(cls_token),
            "trim_offsets": boolean(trim_offsets),
            "add_prefix_space": boolean(add_prefix_space),
        }

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        return 4 if is_pair else 2

    def processed(self, texts: list[Columns], add_special_tokens: bool) -> list[Columns]:
        if self.fields["trim_offsets"]:
            trim(texts, self.fields["add_prefix_space"])
        if add_special_tokens:
            for window in (window for columns in texts for window in columns.overflowing):
                window.types[:] = [0] * len(window.ids)
        return apply_template(_ROBERTA[: 3 * len(texts)], _cls_and_sep(self), texts, add_special_tokens)


class ByteLevel(PostProcessor):
    defaults: ClassVar[Mapping[str, Any]] = BYTE_LEVEL
    add_prefix_space, trim_offsets, use_regex = Field(), Field(), Field()

    def __init__(
        self,
        add_prefix_space: bool | None = None,
        trim_offsets: bool | None = None,
        use_regex: bool | None = None,
        **_kwargs: object,
    ) -> None:
        flags = [True if flag is None else flag for flag in (add_prefix_space, trim_offsets, use_regex)]
        self.fields = byte_level_fields(*flags)

    def processed(self, texts: list[Columns], add_special_tokens: bool) -> list[Columns]:
        if self.fields["trim_offsets"]:
            trim(texts, self.fields["add_prefix_space"])
        return texts


class _Template(Field):
    """The template of a text or of a pair, which the original shows as a text and takes as the constructor does."""

    def __get__(self, processor: Any, owner: type) -> Any:
        return self if processor is None else f"Template([{', '.join(map(_described, processor.fields[self.name]))}])"

    def __set__(self, processor: Component, value: Any) -> None:
        template = template_json(value)
        _check_tokens(template, processor.fields["special_tokens"])
        processor.change(self.name, template)


def _described(part: Mapping[str, Any]) -> str:
    (kind,) = part
    name, type_id = part[kind]["id"], part[kind]["type_id"]
    shown = json.dumps(name, ensure_ascii=False) if kind == "SpecialToken" else name
    return f"{kind} {{ id: {shown}, type_id: {type_id} }}"


def _check_tokens(template: list[dict[str, Any]], tokens: Mapping[str, Any]) -> None:
    used = [part["SpecialToken"]["id"] for part in template if "SpecialToken" in part]
    if missing := [token for token in dict.fromkeys(used) if token not in tokens]:
        raise ValueError(f"Missing SpecialToken(s) with id(s) `{', '.join(missing)}`")


class TemplateProcessing(PostProcessor):
    defaults: ClassVar[Mapping[str, Any]] = {"single": [], "pair": [], "special_tokens": {}}
    single = _Template()

    def __init__(
        self,
        single: str | list[str] | None = None,
        pair: str | list[str] | None = None,
        special_tokens: list[Any] | None = None,
    ) -> None:
        first = template_json("$0" if single is None else single)
        second = template_json("$A:0 $B:1" if pair is None else pair)
        tokens = tokens_json(special_tokens or [])
        _check_tokens([*first, *second], tokens)
        self.fields = {"single": first, "pair": second, "special_tokens": tokens}

    def json(self) -> dict[str, Any]:
        return {**super().json(), "special_tokens": dict(sorted(self.fields["special_tokens"].items()))}

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        tokens = self.fields["special_tokens"]
        parts = self.fields["pair" if is_pair else "single"]
        return sum(len(tokens[part["SpecialToken"]["id"]]["ids"]) for part in parts if "SpecialToken" in part)

    def processed(self, texts: list[Columns], add_special_tokens: bool) -> list[Columns]:
        parts = self.fields["pair" if len(texts) == 2 else "single"]
        return apply_template(parts, self.fields["special_tokens"], texts, add_special_tokens)


class Sequence(PostProcessor):
    defaults: ClassVar[Mapping[str, Any]] = {"processors": []}
    members = "processors"
    new_arguments = ([],)

    def __init__(self, processors: list[PostProcessor]) -> None:
        self.fields["processors"] = [component_of(PostProcessor, part) for part in processors]

    def __getitem__(self, index: int) -> PostProcessor:
        part: PostProcessor = self.fields["processors"][index]
        return part

    def __setitem__(self, index: int, value: PostProcessor) -> None:
        self.fields["processors"][index] = component_of(PostProcessor, value)
        self.changed()

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        return sum(part.num_special_tokens_to_add(is_pair) for part in self.fields["processors"])

    def processed(self, texts: list[Columns], add_special_tokens: bool) -> list[Columns]:
        for part in self.fields["processors"]:
            texts = part.processed(texts, add_special_tokens)
        return texts
