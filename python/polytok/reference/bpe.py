"""Byte-pair encoding: find the best adjacent pair, merge it, repeat.

The families differ only in which pair can merge and which is best; ties go to the leftmost pair.

| priority | a pair can merge when | best |
|---|---|---|
| merges (minbpe, Hugging Face) | the pair of ids is listed | first in the list |
| rank (tiktoken) | the concatenation is an entry | lowest id |
| score (SentencePiece, llama2.c) | the concatenation is an entry | highest score |

For "score" there is no merge list: an entry that no sequence of merges builds is never produced, whatever its score.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeVar

from polytok.reference.stages import Segment
from polytok.reference.utf8 import units
from polytok.reference.vocabulary import Vocabulary
from polytok.spec import Bpe, Line

Symbol = TypeVar("Symbol")
DEEPEST_SPLIT = 100
"""SentencePiece 0.2.3 splits UNUSED pieces no deeper than this; it emits the remainder unchanged."""


def merge(
    symbols: Iterable[Symbol],
    priority: Callable[[Symbol, Symbol], float | None],
    join: Callable[[Symbol, Symbol], Symbol],
) -> list[Symbol]:
    """Merge the leftmost pair of the lowest priority until no pair has one."""
    parts = list(symbols)
    while True:
        ranked = [(p, i) for i in range(len(parts) - 1) if (p := priority(parts[i], parts[i + 1])) is not None]
        if not ranked:
            return parts
        _, i = min(ranked)
        parts[i : i + 2] = [join(parts[i], parts[i + 1])]


def by_merges(words: Vocabulary, text: bytes, model: Bpe) -> list[Segment]:
    """Bytes merged by a list of pairs of ids. If a pair is listed twice, the last counts, as in minbpe's dictionary."""
    listed = [] if model.merges is None else model.merges.tolist()
    rules = {(left, right): (order, merged) for order, (left, right, merged) in enumerate(listed)}

    def priority(left: Segment, right: Segment) -> int | None:
        rule = rules.get((left.id, right.id))
        return rule and rule[0]

    def join(left: Segment, right: Segment) -> Segment:
        return Segment(rules[left.id, right.id][1], left.start, right.end)

    return merge([Segment(words.normal.get(text[i : i + 1]), i, i + 1) for i in range(len(text))], priority, join)


def by_rank(words: Vocabulary, text: bytes) -> list[Segment]:
    """Bytes merged by the id of the concatenation."""

    def priority(left: tuple[int, int], right: tuple[int, int]) -> int | None:
        return words.normal.get(text[left[0] : right[1]])

    spans = merge([(i, i + 1) for i in range(len(text))], priority, lambda left, right: (left[0], right[1]))
    return [Segment(words.normal.get(text[start:end]), start, end) for start, end in spans]


class Unit(NamedTuple):
    """A symbol of SentencePiece's BPE. A user-defined symbol does not merge."""

    start: int
    end: int
    frozen: bool


def by_score(words: Vocabulary, text: bytes, line: Line) -> list[Segment]:
    """SentencePiece's BPE over normalized text.

    Merging can pass through UNUSED pieces, but they do not stay: each is split again into the pair that was last seen
    to form it, when that pair occurred for the first time at its place, whether it was merged or not.
    """
    halves: dict[bytes, tuple[bytes, bytes]] = {}
    seen: set[tuple[Unit, Unit]] = set()

    def priority(left: Unit, right: Unit) -> float | None:
        piece = text[left.start : right.end]
        if left.frozen or right.frozen or piece not in words.normal:
            return None
        id = words.normal[piece]
        if words.is_unused(id) and (left, right) not in seen:
            halves[piece] = (text[left.start : left.end], text[right.start : right.end])
        seen.add((left, right))
        return -words.score[id]

    parts = merge(
        [Unit(*unit) for unit in units(text, words.user_defined)],
        priority,
        lambda left, right: Unit(left.start, right.end, False),
    )
    out: list[Segment] = []
    for part in parts:
        out += resegment(words, text[part.start : part.end], part.start, halves, line)
    return out


def resegment(
    words: Vocabulary, piece: bytes, start: int, halves: dict[bytes, tuple[bytes, bytes]], line: Line
) -> list[Segment]:
    """Convert one merged symbol to symbols that can be emitted: UNUSED pieces are split, left half first."""
    out: list[Segment] = []
    todo = [(piece, 0)]
    while todo:
        word, depth = todo.pop()
        too_deep = line == "0.2.3" and depth > DEEPEST_SPLIT
        if word in halves and not too_deep and words.is_unused(look_up(words, word, line)):
            left, right = halves[word]
            todo += [(right, depth + 1), (left, depth + 1)]
        else:
            id = find(words, word, "0.2.1" if too_deep else line)
            out.append(Segment(id, start, start + len(word)))
            start += len(word)
    return out


def find(words: Vocabulary, word: bytes, line: Line) -> int | None:
    """The id that SentencePiece's BPE, CHAR and WORD give a final symbol, or None for unknown.

    0.2.1 looks among the reserved pieces first and emits UNUSED pieces; 0.2.3 does neither.
    """
    id = look_up(words, word, line)
    return None if line == "0.2.3" and words.is_unused(id) else id


def look_up(words: Vocabulary, word: bytes, line: Line) -> int | None:
    """The id of a final symbol, UNUSED or not."""
    normal = words.normal.get(word)
    return words.reserved.get(word, normal) if line == "0.2.1" else normal
