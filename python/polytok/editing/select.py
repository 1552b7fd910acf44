"""Selects entries to remove: by a pattern, by script, by how little they are used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeAlias

import numpy as np

from .. import _core
from ..errors import ArgumentError, SpecError
from ..tokenizer import Tokenizer
from ..values import Text

Selector: TypeAlias = Callable[[Sequence[bytes]], Sequence[bool]]
"""Returns for each entry whether it is selected."""

_BATCH = 1024


def matching(pattern: str) -> Selector:
    """The entries that a pattern matches, in the syntax of split patterns (``\\p{…}`` and look-around included).

    An entry that is not UTF-8 never matches.

    >>> matching(r"^\\p{Lu}+$")([b"ABC", b"aBC", b"\\xff"])
    [True, False, False]
    """

    try:
        _core.pattern_matches(pattern, [])
    except SpecError as error:
        raise ArgumentError(str(error)) from error
    return _selector(pattern)


def _selector(pattern: str) -> Selector:
    return lambda entries: _core.pattern_matches(pattern, list(entries))


def script(name: str) -> Selector:
    """The entries with letters of only one script, by its Unicode name: Latin, Cyrillic, Han, Hangul.

    >>> script("Latin")([b" the", "日本".encode(), b"42", "aя".encode()])
    [True, False, False, False]
    """
    of_it = rf"\p{{Script={name}}}"
    return matching(rf"\A[{of_it}\P{{L}}]*[{of_it}&&\p{{L}}][{of_it}\P{{L}}]*\z")


ENGLISH: Final = _selector(r"\A[ \n\t]?[A-Za-z][A-Za-z'’]*[A-Za-z]\.?\z")
"""Words, or parts of words, of two or more ASCII letters: English, and words of other languages with such spelling."""

CODE: Final = _selector(
    r"\A(?=[\x00-\x7F]{2,}\z)"
    r"(?s:.*[{}\[\]\\<>=_;|&$#@~^`]|.*[!-/:-@\[-`{-~].*[!-/:-@\[-`{-~]|.*[a-z][A-Z]|.*[\t ]{2}|.*\n[\t ])"
)
"""Program text: ASCII with two signs or one that prose does not use, camelCase, indentation."""


def least_used(tokenizer: Tokenizer, texts: Iterable[Text], count: int) -> list[bytes]:
    """The entries that the texts use least often, without single bytes; of equal ones the longest.

    >>> from polytok.spec import Longest, Spec, Vocab
    >>> rows = [(piece, id, 0.0, 1) for id, piece in enumerate([b"a", b"b", b"ab", b"aa"])]
    >>> spec = Spec(Vocab.from_rows(rows), Longest())
    >>> least_used(Tokenizer(spec), ["aaab"], 1)
    [b'aa']
    """
    uses = np.zeros(tokenizer.vocab_size, dtype=np.int64)
    for batch in _batches(texts):
        ids = tokenizer.encode_batch(batch).ids
        uses += np.bincount(ids, minlength=len(uses))
    vocab = tokenizer.spec.vocab
    rows = zip(vocab.ids.tolist(), vocab.pieces(), strict=True)
    order = sorted((int(uses[id]), -len(piece), piece) for id, piece in rows if len(piece) > 1)
    return [piece for _, _, piece in order[:count]]


def _batches(texts: Iterable[Text]) -> Iterable[list[Text]]:
    batch: list[Text] = []
    for text in texts:
        batch.append(text)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
