"""The templates of TemplateProcessing, from their texts to JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .arguments import id_number, text

_TEXTS = {"": "A", "A": "A", "a": "A", "B": "B", "b": "B"}


def template_json(template: str | list[str]) -> list[dict[str, Any]]:
    """Returns the parts of a template, which is a text with spaces or a list."""
    parts = template.split(" ") if isinstance(template, str) else template
    return [_part_json(text(part)) for part in parts]


def _part_json(part: str) -> dict[str, Any]:
    """Returns a part: ``$A``, ``$B:1``, ``$1`` or a special token, with or without its type id."""
    name, _, type_text = part.partition(":")
    if part.count(":") > 1 or (":" in part and not (type_text.isascii() and type_text.isdigit())):
        raise ValueError(f'Cannot build Piece from string "{part}"')
    if not name.startswith("$"):
        return {"SpecialToken": {"id": name, "type_id": int(type_text or 0)}}
    if name[1:] in _TEXTS:
        return {"Sequence": {"id": _TEXTS[name[1:]], "type_id": int(type_text or 0)}}
    if not name[1:].isascii() or not name[1:].isdigit():
        raise ValueError(f'Cannot build Piece from string "{part}"')
    return {"Sequence": {"id": "A", "type_id": int(type_text or name[1:])}}


def tokens_json(tokens: list[Any]) -> dict[str, dict[str, Any]]:
    """Returns the special tokens of a template: (text, id), (id, text), or dicts with id, ids and tokens."""
    return {token["id"]: token for token in map(_token_json, tokens)}


def _token_json(token: Any) -> dict[str, Any]:
    if isinstance(token, Mapping):
        ids, texts = [id_number(id) for id in token["ids"]], [text(part) for part in token["tokens"]]
        if len(ids) != len(texts):
            raise ValueError("SpecialToken: ids and tokens must be of the same length")
        return {"id": text(token["id"]), "ids": ids, "tokens": texts}
    if not isinstance(token, tuple) or len(token) != 2:
        raise TypeError("Expected Union[Tuple[str, int], Tuple[int, str], dict]")
    name, id = token if isinstance(token[0], str) else token[::-1]
    return {"id": text(name), "ids": [id_number(id)], "tokens": [name]}
