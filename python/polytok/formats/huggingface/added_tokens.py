"""Added tokens, with the ids that the package `tokenizers` assigns to them; these ids can differ from the file's.

If the text of a token is in the vocabulary, the token has the id of this entry. Other tokens get consecutive ids that
start with the number of entries; if the ids have gaps, an entry can have the same id. If an assigned id differs from
the id in the file, `tokenizers` warns and `transformers` uses the file's id. The warning is kept in the Spec.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from ...errors import FormatError
from ...records import replace
from ...spec import SpecialToken
from ..base import MAX_ID
from .fields import Fields, Json

Lookup = Callable[[list[str]], Mapping[str, int]]
"""A function that returns the ids of the texts that are rows of the vocabulary."""


class AddedTokens(NamedTuple):
    """The added tokens in file order, and a warning for each id in the file that the package `tokenizers` ignores."""

    tokens: tuple[SpecialToken, ...]
    warnings: tuple[str, ...]


def read(value: Json, lookup: Lookup, vocab_size: int) -> AddedTokens:
    """Reads a list of added tokens."""
    if not isinstance(value, list):
        raise FormatError("added_tokens: not a list")
    tokens_in_file = [_read_token(Fields(item, f"added_tokens[{index}]")) for index, item in enumerate(value)]
    return assign_ids(tokens_in_file, lookup, vocab_size)


def assign_ids(tokens_in_file: list[SpecialToken], lookup: Lookup, vocab_size: int) -> AddedTokens:
    """Assigns ids to the tokens by the rules of the package `tokenizers`."""
    known_ids = lookup([token.text for token in tokens_in_file])
    tokens: dict[str, SpecialToken] = {}
    warnings: list[str] = []
    next_id = vocab_size
    for token in tokens_in_file:
        if not token.text:
            continue
        earlier_token = tokens.get(token.text)
        id = earlier_token.id if earlier_token else known_ids.get(token.text)
        if id is None:
            id, next_id = next_id, next_id + 1
        if id > MAX_ID:
            raise FormatError(f"added_tokens: no id is left for {token.text!r}")
        if id != token.id:
            description = f"the added token {token.text!r}"
            warnings.append(f"{description} has the id {token.id} in the file, but {id} in tokenizers")
        special = token.special or (earlier_token is not None and earlier_token.special)
        tokens[token.text] = replace(token, id=id, special=special)
    return AddedTokens(tuple(tokens.values()), tuple(warnings))


def _read_token(fields: Fields) -> SpecialToken:
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
    """Returns the list of added tokens as JSON, in the order of their ids."""
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
