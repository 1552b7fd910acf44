"""What post-processors do to encodings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .encoding import Columns

_SPACE = "Ġ"
"""The character that stands for a space in byte-level tokens."""


def process(processor: Any, texts: list[Columns], add_special_tokens: bool) -> Columns:
    """Returns the processed encodings of one or two texts as one encoding; None only joins."""
    if processor is not None:
        for index, columns in enumerate(texts):
            for part in (columns, *columns.overflowing):
                part.ranges = {index: range(len(part.ids))}
            columns.types[:] = [index] * len(columns.ids)
        texts = processor.processed(texts, add_special_tokens)
    merged = texts[0]
    for columns in texts[1:]:
        merged.merge(columns, False)
    return merged


def apply_template(
    parts: Sequence[Mapping[str, Any]],
    tokens: Mapping[str, Mapping[str, Any]],
    texts: Sequence[Columns],
    add_special_tokens: bool,
) -> list[Columns]:
    """Returns the parts of a template in order, each as an encoding."""
    encodings: list[Columns] = []
    for part in parts:
        if "Sequence" in part:
            index = int(part["Sequence"]["id"] == "B")
            columns = texts[index].copy()
            columns.types[:] = [part["Sequence"]["type_id"]] * len(columns.ids)
            encodings.append(columns)
        elif add_special_tokens:
            token = tokens[part["SpecialToken"]["id"]]
            encodings.append(_special(token["ids"], token["tokens"], part["SpecialToken"]["type_id"]))
    return encodings


def _special(ids: Sequence[int], tokens: Sequence[str], type_id: int) -> Columns:
    columns, count = Columns(), len(ids)
    lists: tuple[Sequence[Any], ...] = (
        ids,
        [type_id] * count,
        tokens,
        [None] * count,
        [(0, 0)] * count,
        [1] * count,
        [1] * count,
    )
    for target, values in zip(columns.lists(), lists, strict=True):
        target += values
    return columns


def trim(texts: Sequence[Columns], add_prefix_space: bool) -> None:
    """Removes the spaces at both ends of tokens from their offsets."""
    for columns in texts:
        spans = zip(columns.tokens, columns.offsets, strict=True)
        columns.offsets[:] = [_trimmed(at, *span, add_prefix_space) for at, span in enumerate(spans)]
        trim(columns.overflowing, add_prefix_space)


def _trimmed(at: int, token: str, span: tuple[int, int], add_prefix_space: bool) -> tuple[int, int]:
    start, end = span
    leading = len(token) - len(_strip_start(token))
    trailing = len(token) - len(_strip_start(token[::-1]))
    if leading:
        is_first = at == 0 or start == 0
        start = min(start + leading - (is_first and add_prefix_space), end)
    if trailing and end >= trailing:
        end = max(end - trailing, start)
    return start, end


def _strip_start(token: str) -> str:
    while token and (token[0] == _SPACE or token[0].isspace()):
        token = token[1:]
    return token
