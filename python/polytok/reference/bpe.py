"""Byte-pair encoding: finds the best adjacent pair, merges it, and repeats.

The families differ only in two rules: which pairs can merge, and which pair is the best. Ties go to the leftmost pair.

| priority | a pair can merge when | best |
|---|---|---|
| merges (minbpe, Hugging Face) | the pair of ids is listed | first in the list |
| rank (tiktoken) | the concatenation is an entry | lowest id |
| score (SentencePiece, llama2.c) | the concatenation is an entry | highest score |

For "score" there is no merge list. So an entry that no sequence of merges builds is never produced, whatever its score.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeVar

from polytok.reference.stages import Segment
from polytok.reference.utf8 import Counts, units
from polytok.reference.vocabulary import Vocabulary
from polytok.spec import Bpe, SentencePieceVersion

Symbol = TypeVar("Symbol")
MAX_SPLIT_DEPTH = 100
"""The depth to which SentencePiece 0.2.3 splits UNUSED pieces again; deeper ones are emitted unchanged."""


def merge(
    symbols: Iterable[Symbol],
    priority: Callable[[Symbol, Symbol], float | None],
    join: Callable[[Symbol, Symbol], Symbol],
) -> list[Symbol]:
    """Merges the leftmost pair of the lowest priority until no pair has a priority; returns the remaining symbols."""
    parts = list(symbols)
    while True:
        ranked = [(rank, i) for i in range(len(parts) - 1) if (rank := priority(parts[i], parts[i + 1])) is not None]
        if not ranked:
            return parts
        _, i = min(ranked)
        parts[i : i + 2] = [join(parts[i], parts[i + 1])]


def merge_by_list(vocab: Vocabulary, text: bytes, model: Bpe) -> list[Segment]:
    """Returns the segments of a text, whose bytes are merged by a list of pairs of ids.

    If a pair is listed twice, its last rule counts, as in minbpe's dictionary.
    """
    merges = [] if model.merges is None else model.merges.tolist()
    rules = {(left, right): (order, merged) for order, (left, right, merged) in enumerate(merges)}

    def priority(left: Segment, right: Segment) -> int | None:
        rule = rules.get((left.id, right.id))
        return rule and rule[0]

    def join(left: Segment, right: Segment) -> Segment:
        return Segment(rules[left.id, right.id][1], left.start, right.end)

    return merge([Segment(vocab.normal_ids.get(text[i : i + 1]), i, i + 1) for i in range(len(text))], priority, join)


def merge_by_rank(vocab: Vocabulary, text: bytes) -> list[Segment]:
    """Returns the segments of a text: the pair whose concatenation has the lowest id is merged first."""

    def priority(left: tuple[int, int], right: tuple[int, int]) -> int | None:
        return vocab.normal_ids.get(text[left[0] : right[1]])

    spans = merge([(i, i + 1) for i in range(len(text))], priority, lambda left, right: (left[0], right[1]))
    return [Segment(vocab.normal_ids.get(text[start:end]), start, end) for start, end in spans]


class Unit(NamedTuple):
    """A symbol of SentencePiece's BPE: a part of the text. A user-defined symbol does not merge."""

    start: int
    end: int
    is_user_defined: bool


def merge_by_score(
    vocab: Vocabulary, text: bytes, line: SentencePieceVersion, counts: Counts | None = None
) -> list[Segment]:
    """Returns the segments of normalized text by SentencePiece's BPE.

    Merging can pass through UNUSED pieces, but they are not emitted: they are split again, into two halves. The halves
    are the pair that was seen last among those that form the piece; a pair counts as seen when it first occurs at its
    position, whether or not it is merged.
    """
    halves: dict[bytes, tuple[bytes, bytes]] = {}
    seen: set[tuple[Unit, Unit]] = set()

    def priority(left: Unit, right: Unit) -> float | None:
        piece = text[left.start : right.end]
        if left.is_user_defined or right.is_user_defined or piece not in vocab.normal_ids:
            return None
        if counts and piece in vocab.user_defined and not counts(left.start, right.end):
            return None
        id = vocab.normal_ids[piece]
        if vocab.is_unused(id) and (left, right) not in seen:
            halves[piece] = (text[left.start : left.end], text[right.start : right.end])
        seen.add((left, right))
        return -vocab.score[id]

    parts = merge(
        [Unit(*unit) for unit in units(text, vocab.user_defined, counts)],
        priority,
        lambda left, right: Unit(left.start, right.end, False),
    )
    out: list[Segment] = []
    for symbol in parts:
        out += split_unused(vocab, text[symbol.start : symbol.end], symbol.start, halves, line)
    return out


def split_unused(
    vocab: Vocabulary, piece: bytes, start: int, halves: dict[bytes, tuple[bytes, bytes]], line: SentencePieceVersion
) -> list[Segment]:
    """Splits one merged symbol into symbols that can be emitted: UNUSED pieces are split in two, left half first."""
    out: list[Segment] = []
    pending_symbols = [(piece, 0)]
    while pending_symbols:
        symbol, depth = pending_symbols.pop()
        too_deep = line == "0.2.3" and depth > MAX_SPLIT_DEPTH
        if symbol in halves and not too_deep and vocab.is_unused(look_up(vocab, symbol, line)):
            left, right = halves[symbol]
            pending_symbols += [(right, depth + 1), (left, depth + 1)]
        else:
            id = final_id(vocab, symbol, "0.2.1" if too_deep else line)
            out.append(Segment(id, start, start + len(symbol)))
            start += len(symbol)
    return out


def final_id(vocab: Vocabulary, symbol: bytes, line: SentencePieceVersion) -> int | None:
    """Returns the id that SentencePiece's BPE, CHAR and WORD assign to a final symbol, or None for unknown.

    Release 0.2.1 searches the reserved pieces first and emits UNUSED pieces; 0.2.3 does neither.
    """
    id = look_up(vocab, symbol, line)
    return None if line == "0.2.3" and vocab.is_unused(id) else id


def look_up(vocab: Vocabulary, symbol: bytes, line: SentencePieceVersion) -> int | None:
    """Returns the id of a final symbol, whether or not the symbol is UNUSED; None if no entry has its text."""
    normal_id = vocab.normal_ids.get(symbol)
    return vocab.reserved_ids.get(symbol, normal_id) if line == "0.2.1" else normal_id
