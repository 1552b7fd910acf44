"""Added tokens: their ids are not those of the file, but given out as tokenizers does it.

A token has the id of its text in the vocabulary, else the next one from the vocabulary's number of entries on,
which is taken if the ids have holes. Where that is not the file's, tokenizers warns and transformers goes by the
file; the warning is kept for whoever asks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

from ...errors import FormatError
from ...spec import SpecialToken
from ..base import MAX_ID
from .fields import Fields, Json

Lookup = Callable[[list[str]], Mapping[str, int]]
"""The ids of those texts that are rows of the vocabulary."""


class Added(NamedTuple):
    """The added tokens in file order, and the ids that tokenizers does not honour."""

    tokens: tuple[SpecialToken, ...]
    warnings: tuple[str, ...]


def read(value: Json, lookup: Lookup, vocab_size: int) -> Added:
    """The added tokens of a list."""
    if not isinstance(value, list):
        raise FormatError("added_tokens: not a list")
    listed = [_token(Fields(item, f"added_tokens[{index}]")) for index, item in enumerate(value)]
    return number(listed, lookup, vocab_size)


def number(listed: list[SpecialToken], lookup: Lookup, vocab_size: int) -> Added:
    """Gives the tokens the ids that they have in tokenizers."""
    known = lookup([token.text for token in listed])
    tokens: dict[str, SpecialToken] = {}
    warnings: list[str] = []
    next_id = vocab_size
    for token in listed:
        if not token.text:
            continue
        before = tokens.get(token.text)
        id = before.id if before else known.get(token.text)
        if id is None:
            id, next_id = next_id, next_id + 1
        if id > MAX_ID:
            raise FormatError(f"added_tokens: no id is left for {token.text!r}")
        if id != token.id:
            which = f"the added token {token.text!r}"
            warnings.append(f"{which} has the id {token.id} in the file, tokenizers gives it {id}")
        special = token.special or (before is not None and before.special)
        tokens[token.text] = replace(token, id=id, special=special)
    return Added(tuple(tokens.values()), tuple(warnings))


def _token(fields: Fields) -> SpecialToken:
    return SpecialToken(
        text=fields.text("content"),
        id=fields.number("id"),
        special=fields.flag("special"),
        single_word=fields.flag("single_word"),
        lstrip=fields.flag("lstrip"),
        rstrip=fields.flag("rstrip"),
        normalized=fields.flag("normalized"),
    )


def write(tokens: tuple[SpecialToken, ...]) -> Json:
    """The list, by id."""
    return [
        {
            "id": token.id,
            "content": token.text,
            "single_word": token.single_word,
            "lstrip": token.lstrip,
            "rstrip": token.rstrip,
            "normalized": token.normalized,
            "special": token.special,
        }
        for token in sorted(tokens, key=lambda token: token.id)
    ]
