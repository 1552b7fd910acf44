"""Short Japanese words of texts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ..errors import ArgumentError
from ..training.counting import Counts
from ..values import Text

_RUNS: Final = r"[\p{Han}々〆ヶ]+|[\p{Hiragana}ー]+|[\p{Katakana}ー]+"
"""Text that no match covers is dropped; a long vowel mark belongs to the kana before it."""
_BATCH_BYTES = 1 << 22


def japanese_words(texts: Iterable[Text], count: int, lengths: Iterable[int] = (2, 3)) -> list[tuple[bytes, int]]:
    """The most frequent words of two or three characters, with their counts; ties are ordered by bytes.

    No spaces separate words, so a word is a maximal run of kanji, of hiragana or of katakana that stands between two
    others, as 今日 and は do in 「今日はアメ」.

    >>> [(word.decode(), times) for word, times in japanese_words(["今日は雨、今日もアメ"], 2)]
    [('今日', 2), ('アメ', 1)]
    """
    wanted = frozenset(lengths)
    if count < 0 or not wanted or min(wanted) < 1:
        raise ArgumentError("count cannot be negative, and lengths are numbers from 1 on")
    counts = Counts(split=_RUNS)
    batch: list[bytes] = []
    size = 0
    for text in texts:
        data = text.encode(errors="replace") if isinstance(text, str) else bytes(text)
        batch.append(data)
        size += len(data)
        if size >= _BATCH_BYTES:
            counts.push(batch)
            batch, size = [], 0
    counts.push(batch)
    return _chosen(counts, count, wanted)


def _chosen(counts: Counts, count: int, lengths: frozenset[int]) -> list[tuple[bytes, int]]:
    chosen: list[tuple[bytes, int]] = []
    for word, times in counts.words("most_frequent").to_list():
        if len(chosen) == count:
            break
        try:
            characters = len(word.decode())
        except UnicodeDecodeError:  # bytes that are not UTF-8 are words of their own
            continue
        if characters in lengths:
            chosen.append((word, times))
    return chosen
