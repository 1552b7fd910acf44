"""Truncation and padding of tokenizers 0.23: read from keywords, and written as attributes and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from ...lengths import Direction, Padding, Strategy, Truncation
from .arguments import id_number, optional_unsigned, text, unsigned, warn_unknown
from .encoding import is_left

_STRATEGIES = {"longest_first": "LongestFirst", "only_first": "OnlyFirst", "only_second": "OnlySecond"}
_PADDING_KEYWORDS = ("direction", "pad_to_multiple_of", "pad_id", "pad_type_id", "pad_token", "max_length", "length")


def truncation_of(max_length: object, keywords: Mapping[str, object]) -> Truncation:
    """Returns the truncation that ``enable_truncation`` sets."""
    length, stride, strategy, direction = unsigned(max_length), 0, "longest_first", "right"
    for name, value in keywords.items():
        if name == "stride":
            stride = unsigned(value)
        elif name == "strategy":
            strategy = text(value)
            if strategy not in _STRATEGIES:
                names = "`longest_first`, `only_first`, or `only_second`"
                raise ValueError(f"Unknown `strategy`: `{strategy}`. Use one of {names}")
        elif name == "direction":
            direction = text(value)
            if direction not in ("left", "right"):
                raise ValueError(f"Unknown `direction`: `{direction}`. Use one of `left` or `right`.")
        else:
            warn_unknown({name: value}, ())
    return Truncation(length, stride, cast("Strategy", strategy), cast("Direction", direction))


def check_stride(truncation: Truncation, added: int) -> None:
    """Refuses a stride that is not less than the tokens of a window without the ``added`` special tokens."""
    length, stride = truncation.max_length, truncation.stride
    if length >= added and stride > length - added:
        raise ValueError(
            f"tokenizer stride set to {stride}, which is greater than or equal to its effective max length of "
            f"{length - added} (= {length} original max length - {added} added special tokens), "
        )


def truncation_attribute(truncation: Truncation) -> dict[str, Any]:
    """Returns the attribute ``truncation`` of a tokenizer."""
    return {
        "max_length": truncation.max_length,
        "stride": truncation.stride,
        "strategy": truncation.strategy,
        "direction": truncation.direction,
    }


def truncation_json(truncation: Truncation) -> dict[str, Any]:
    """Returns the member ``truncation`` of a tokenizer.json."""
    return {
        "direction": truncation.direction.capitalize(),
        "max_length": truncation.max_length,
        "strategy": _STRATEGIES[truncation.strategy],
        "stride": truncation.stride,
    }


def padding_of(keywords: Mapping[str, Any]) -> Padding:
    """Returns the padding that ``enable_padding`` sets."""
    warn_unknown(keywords, _PADDING_KEYWORDS)
    if "max_length" in keywords:
        print("enable_padding(max_length=X) is deprecated, use enable_padding(length=X) instead")
    direction: Direction = "left" if is_left(keywords.get("direction", "right")) else "right"
    return Padding(
        length=optional_unsigned(keywords.get("length", keywords.get("max_length"))),
        to_multiple_of=optional_unsigned(keywords.get("pad_to_multiple_of")),
        id=id_number(keywords.get("pad_id", 0)),
        token=text(keywords.get("pad_token", "[PAD]")),
        type_id=id_number(keywords.get("pad_type_id", 0)),
        direction=direction,
    )


def padding_attribute(padding: Padding) -> dict[str, Any]:
    """Returns the attribute ``padding`` of a tokenizer."""
    return {
        "length": padding.length,
        "pad_to_multiple_of": padding.to_multiple_of,
        "pad_id": padding.id,
        "pad_token": padding.token,
        "pad_type_id": padding.type_id,
        "direction": padding.direction,
    }


def padding_json(padding: Padding) -> dict[str, Any]:
    """Returns the member ``padding`` of a tokenizer.json."""
    return {
        "strategy": "BatchLongest" if padding.length is None else {"Fixed": padding.length},
        "direction": padding.direction.capitalize(),
        "pad_to_multiple_of": padding.to_multiple_of,
        "pad_id": padding.id,
        "pad_type_id": padding.type_id,
        "pad_token": padding.token,
    }
