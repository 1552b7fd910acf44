"""Compares two tokenizers with ``add_special``, and on texts with special tokens that are allowed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..errors import PolytokError
from ..options import Options
from ..tokenizer import Tokenizer
from ..values import Text
from .finding import Finding, Severity, readable_piece

_PARTS = (("", ""), ("a", "b"), ("a ", " b"), ("  ", "  "), ("a \n", "\tb"))
"""The texts before and after a special token, which can strip white space, or match only as a whole word."""
_MAX_TOKENS = 6

_Ids = list[int] | None  # None: the tokenizer refuses the text


def find_other_added_ids(tokenizer: Tokenizer, other: Tokenizer, texts: Sequence[Text]) -> Iterator[Finding]:
    """Finds texts that have the same ids, and other ids with ``add_special``."""
    plain_ids, other_plain_ids = (_encode(side, texts, Options()) for side in (tokenizer, other))
    same_texts = [text for text, *ids in zip(texts, plain_ids, other_plain_ids, strict=True) if ids[0] == ids[1]]
    if message := _difference(tokenizer, other, same_texts, Options(add_special=True)):
        yield Finding(
            "other-added-ids",
            Severity.ERROR,
            f"with add_special, {message}",
            "compare the templates of the files (post_processor, add_bos_token) and their bos and eos",
        )


def find_other_special_ids(tokenizer: Tokenizer, other: Tokenizer) -> Iterator[Finding]:
    """Finds texts with special tokens of both tokenizers that get other ids if these tokens are allowed."""
    other_ids = other.special_tokens
    tokens = [text for text, id in tokenizer.special_tokens.items() if other_ids.get(text) == id]
    parts = sorted({part for pair in _PARTS for part in pair})
    if not tokens or _encode(tokenizer, parts, Options()) != _encode(other, parts, Options()):
        return
    texts = [f"{before}{token}{after}" for token in tokens for before, after in _PARTS]
    if message := _difference(tokenizer, other, texts, Options(special=frozenset(tokens))):
        yield Finding(
            "other-special-ids",
            Severity.ERROR,
            f"with special tokens allowed, {message}",
            "compare the special tokens of the files: their flags (lstrip, rstrip, single_word, normalized), and "
            "how text after them is encoded",
        )


def _difference(tokenizer: Tokenizer, other: Tokenizer, texts: Sequence[Text], options: Options) -> str | None:
    """Returns the number of texts with other ids, and the shortest of them as an example; None if there are none."""
    sides = [_encode(side, texts, options) for side in (tokenizer, other)]
    differing_indexes = [index for index in range(len(texts)) if sides[0][index] != sides[1][index]]
    if not differing_indexes:
        return None
    index = min(differing_indexes, key=lambda index: (not texts[index].strip(), len(texts[index])))
    left, right = (_described(side, ids[index]) for side, ids in zip((tokenizer, other), sides, strict=True))
    count = f"{len(differing_indexes)} of {len(texts)} texts get other ids"
    return f"{count}: {texts[index]!r} gets {left}, and in the other file {right}"


def _described(tokenizer: Tokenizer, ids: _Ids) -> str:
    if ids is None:
        return "an error"
    shown_ids = ids[:_MAX_TOKENS]
    tokens = zip(shown_ids, tokenizer.ids_to_pieces(shown_ids), strict=True)
    shown = [f"{id} {readable_piece(piece)!r}" for id, piece in tokens]
    return ", ".join([*shown, *(["..."] if len(ids) > _MAX_TOKENS else [])]) or "no ids"


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
