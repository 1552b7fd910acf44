"""Counts short Japanese words in texts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ..errors import ArgumentError
from ..training.counting import Counts
from ..values import Text

_WORD_PATTERN: Final = r"[\p{Han}々〆ヶ]+|[\p{Hiragana}ー]+|[\p{Katakana}ー]+"
"""A pattern for words: runs of kanji, hiragana or katakana. A long vowel mark belongs to the kana before it."""
_BATCH_BYTES = 1 << 22


def japanese_words(texts: Iterable[Text], count: int, lengths: Iterable[int] = (2, 3)) -> list[tuple[bytes, int]]:
    """Returns the ``count`` most frequent words with their counts; words with equal counts are ordered by bytes.

    Japanese has no spaces between words, so a word is a maximal run of kanji, hiragana or katakana, such as 今日 and は
    in 「今日はアメ」. ``lengths`` has the lengths in characters of the words to count. Raises `ArgumentError` for a
    negative count and for lengths below 1.

    >>> [(word.decode(), word_count) for word, word_count in japanese_words(["今日は雨、今日もアメ"], 2)]
    [('今日', 2), ('アメ', 1)]
    """
    length_set = frozenset(lengths)
    if count < 0 or not length_set or min(length_set) < 1:
        raise ArgumentError("count must be 0 or more, and lengths must be numbers from 1 on")
    counts = Counts(split=_WORD_PATTERN)
    batch: list[bytes] = []
    batch_size = 0
    for text in texts:
        data = text.encode(errors="replace") if isinstance(text, str) else bytes(text)
        batch.append(data)
        batch_size += len(data)
        if batch_size >= _BATCH_BYTES:
            counts.push(batch)
            batch, batch_size = [], 0
    counts.push(batch)
    return _most_frequent(counts, count, length_set)


def _most_frequent(counts: Counts, count: int, lengths: frozenset[int]) -> list[tuple[bytes, int]]:
    words: list[tuple[bytes, int]] = []
    for word, word_count in counts.words("most_frequent").to_list():
        if len(words) == count:
            break
        try:
            length = len(word.decode())
        except UnicodeDecodeError:  # each run of bytes that is not UTF-8 is counted as a word too
            continue
        if length in lengths:
            words.append((word, word_count))
    return words
