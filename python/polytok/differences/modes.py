"""Compares two tokenizers with ``add_special``, and on texts with special tokens that are allowed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..errors import PolytokError
from ..options import Options
from ..tokenizer import Tokenizer
from ..values import Text

_PARTS = (("", ""), ("a", "b"), ("a ", " b"), ("  ", "  "), ("a \n", "\tb"))
"""The texts before and after a special token, which can strip white space, or match only as a whole word."""

_Ids = list[int] | None  # None: the tokenizer refuses the text


class ModeDifference(NamedTuple):
    """How many of the compared texts get other ids with some options of encoding, and the shortest of them with both
    results; None for a tokenizer that refuses the text."""

    differing: int
    compared: int
    text: Text
    left_ids: tuple[int, ...] | None
    right_ids: tuple[int, ...] | None


def compare_with_template(left: Tokenizer, right: Tokenizer, texts: Sequence[Text]) -> ModeDifference | None:
    """Returns the difference on texts that have the same ids, and other ids with ``add_special``; None if there is
    none."""
    plain_ids = [_encode(side, texts, Options()) for side in (left, right)]
    same_texts = [text for text, *ids in zip(texts, *plain_ids, strict=True) if ids[0] == ids[1]]
    return _difference(left, right, same_texts, Options(add_special=True))


def compare_with_special(left: Tokenizer, right: Tokenizer) -> ModeDifference | None:
    """Returns the difference on generated texts with the special tokens of both tokenizers, which are allowed; None if
    there is none, or if the texts around the tokens get other ids already."""
    right_ids = right.special_tokens
    tokens = [text for text, id in left.special_tokens.items() if right_ids.get(text) == id]
    parts = sorted({part for pair in _PARTS for part in pair})
    if not tokens or _encode(left, parts, Options()) != _encode(right, parts, Options()):
        return None
    texts = [f"{before}{token}{after}" for token in tokens for before, after in _PARTS]
    return _difference(left, right, texts, Options(special=frozenset(tokens)))


def _difference(left: Tokenizer, right: Tokenizer, texts: Sequence[Text], options: Options) -> ModeDifference | None:
    sides = [_encode(side, texts, options) for side in (left, right)]
    differing_indexes = [index for index in range(len(texts)) if sides[0][index] != sides[1][index]]
    if not differing_indexes:
        return None
    index = min(differing_indexes, key=lambda index: (not texts[index].strip(), len(texts[index])))
    results = [None if side[index] is None else tuple(side[index] or ()) for side in sides]
    return ModeDifference(len(differing_indexes), len(texts), texts[index], *results)


def _encode(tokenizer: Tokenizer, texts: Sequence[Text], options: Options) -> list[_Ids]:
    """Returns the ids of each text."""
    try:
        return list(tokenizer.encode_batch(texts, options=options).to_list())
    except PolytokError:
        return [_encode_text(tokenizer, text, options) for text in texts]


def _encode_text(tokenizer: Tokenizer, text: Text, options: Options) -> _Ids:
    try:
        return tokenizer.encode(text, options=options)
    except PolytokError:
        return None
