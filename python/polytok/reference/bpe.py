"""Byte-pair encoding: finds the best adjacent pair, merges it, and repeats.

The families differ only in three rules: the symbols that merging starts from, which pairs can merge, and which pair is
the best. Ties go to the leftmost pair.

| priority | a pair can merge when | best |
|---|---|---|
| merges (minbpe, Hugging Face) | the pair of ids is listed | first in the list |
| rank (tiktoken) | the concatenation is an entry | lowest id |
| score (SentencePiece, llama2.c) | the concatenation is an entry | highest score |

For "score" there is no merge list. So an entry that no sequence of merges builds is never produced, whatever its score.

`merge` defines the result. `bpe_queue` reaches it by a queue, as the reference programs do; the walks of this file run
the queue, so that each step is recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeVar

from polytok.reference.bpe_queue import Lookup, Merging, Pair
from polytok.reference.recent import Recent
from polytok.reference.stages import Segment
from polytok.reference.utf8 import Counts, units
from polytok.reference.vocabulary import Vocabulary
from polytok.reference.walks import BpeWalk, Resegmented, SplitUnused, Symbol
from polytok.spec import Bpe, SentencePieceVersion

Item = TypeVar("Item")
MAX_SPLIT_DEPTH = 100
"""The depth to which SentencePiece 0.2.3 splits UNUSED pieces again; deeper ones are emitted unchanged."""


def merge(
    symbols: Iterable[Item],
    priority: Callable[[Item, Item], float | None],
    join: Callable[[Item, Item], Item],
) -> list[Item]:
    """Merges the leftmost pair of the lowest priority until no pair has a priority; returns the remaining symbols."""
    parts = list(symbols)
    while True:
        ranked = [(rank, i) for i in range(len(parts) - 1) if (rank := priority(parts[i], parts[i + 1])) is not None]
        if not ranked:
            return parts
        _, i = min(ranked)
        parts[i : i + 2] = [join(parts[i], parts[i + 1])]


def walk_bytes(vocab: Vocabulary, text: bytes, model: Bpe) -> BpeWalk:
    """Returns the walk of a piece whose bytes are merged by rank or by a list of pairs of ids."""
    ids = vocab.last_ids if model.reserved else vocab.plain_ids
    if model.whole_piece_first and text in ids:
        return taken_whole(model, ids[text], len(text))
    symbols = [Symbol(at, ids.get(text[at : at + 1]), at, at + 1) for at in range(len(text))]
    look_up = listed_pairs(text, model) if model.priority == "merges" else ranked_pairs(text, ids)
    return plain_walk(model, Merging(symbols, look_up))


def taken_whole(model: Bpe, id: int, length: int) -> BpeWalk:
    """Returns the walk of a piece that is an entry and is taken without merging."""
    return BpeWalk(model.priority, (), 0, (), (), (Segment(id, 0, length),), whole_piece=id)


def plain_walk(model: Bpe, merging: Merging) -> BpeWalk:
    """Returns the walk of a merging whose final symbols are the result."""
    final = merging.final
    segments = tuple(Segment(symbol.id, symbol.start, symbol.end) for symbol in final)
    numbers = tuple(symbol.number for symbol in final)
    return BpeWalk(
        model.priority, tuple(merging.symbols), merging.initial_count, tuple(merging.events), numbers, segments
    )


def listed_pairs(text: bytes, model: Bpe) -> Lookup:
    """Returns the rule of a list of merges. If a pair is listed twice, its last rule counts, as in minbpe's
    dictionary."""
    rules = _rules_of(model)

    def look_up(left: Symbol, right: Symbol) -> Pair | None:
        rule = None if left.id is None or right.id is None else rules.get((left.id, right.id))
        return rule and Pair(rule[0], rule[0], rule[1], text[left.start : right.end])

    return look_up


def _rules(model: Bpe) -> dict[tuple[int, int], tuple[int, int]]:
    """Returns the place in the list and the merged id of each pair of ids."""
    merges = [] if model.merges is None else model.merges.tolist()
    return {(left, right): (place, merged) for place, (left, right, merged) in enumerate(merges)}


_rules_of = Recent(_rules)


def ranked_pairs(text: bytes, ids: dict[bytes, int]) -> Lookup:
    """Returns the rule of ranks: two symbols merge if their bytes together are an entry, whose id is the rank."""

    def look_up(left: Symbol, right: Symbol) -> Pair | None:
        piece = text[left.start : right.end]
        id = ids.get(piece)
        return None if id is None else Pair(id, id, id, piece)

    return look_up


def walk_chars(
    vocab: Vocabulary, text: bytes, model: Bpe, line: SentencePieceVersion, counts: Counts | None = None
) -> BpeWalk:
    """Returns the walk of normalized text by SentencePiece's BPE.

    Merging can pass through UNUSED pieces, but they are not emitted: they are split again, into two halves. The halves
    are the pair that was seen last among those that form the piece; a pair is seen when it enters the queue, whether or
    not it is merged.
    """
    if model.whole_piece_first and text in vocab.normal_ids:
        return taken_whole(model, vocab.normal_ids[text], len(text))
    rule = _ScoredPairs(vocab, text, counts)
    merging = Merging(rule.symbols(), listed_pairs(text, model) if model.priority == "merges" else rule.look_up)
    splits: list[SplitUnused] = []
    segments = [
        segment
        for symbol in merging.final
        for segment in split_unused(vocab, text[symbol.start : symbol.end], symbol.start, rule.halves, line, splits)
    ]
    return replace(plain_walk(model, merging), segments=tuple(segments), split_unused=tuple(splits))


class _ScoredPairs:
    """SentencePiece's rule: two symbols merge if their texts together are an entry; the highest score merges first."""

    def __init__(self, vocab: Vocabulary, text: bytes, counts: Counts | None) -> None:
        self.vocab, self.text, self.counts = vocab, text, counts
        self.halves: dict[bytes, tuple[bytes, bytes]] = {}

    def symbols(self) -> Iterable[Symbol]:
        """Yields the symbols that merging starts from: characters, and user-defined pieces, which do not merge."""
        for number, (start, end, is_user_defined) in enumerate(units(self.text, self.vocab.user_defined, self.counts)):
            id = self.vocab.normal_ids.get(self.text[start:end])
            yield Symbol(number, id, start, end, merges=not is_user_defined)

    def look_up(self, left: Symbol, right: Symbol) -> Pair | None:
        piece = self.text[left.start : right.end]
        if not left.merges or not right.merges or piece not in self.vocab.normal_ids:
            return None
        if self.counts and piece in self.vocab.user_defined and not self.counts(left.start, right.end):
            return None
        id = self.vocab.normal_ids[piece]
        if self.vocab.is_unused(id):
            self.halves[piece] = (self.text[left.start : left.end], self.text[right.start : right.end])
        return Pair(-self.vocab.score[id], self.vocab.score[id], id, piece)


def split_unused(
    vocab: Vocabulary,
    piece: bytes,
    start: int,
    halves: dict[bytes, tuple[bytes, bytes]],
    line: SentencePieceVersion,
    splits: list[SplitUnused],
) -> list[Segment]:
    """Splits one merged symbol into symbols that can be emitted: UNUSED pieces are split in two, left half first.
    ``splits`` gets a record of each split."""
    out: list[Segment] = []
    pending_symbols = [(piece, 0)]
    while pending_symbols:
        symbol, depth = pending_symbols.pop()
        too_deep = line == "0.2.3" and depth > MAX_SPLIT_DEPTH
        id = look_up(vocab, symbol, line)
        if symbol in halves and not too_deep and id is not None and vocab.is_unused(id):
            left, right = halves[symbol]
            pending_symbols += [(right, depth + 1), (left, depth + 1)]
            splits.append(SplitUnused(start, start + len(left), start + len(symbol), id))
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
    is_unknown = id == vocab.unknown or (line == "0.2.3" and vocab.is_unused(id))
    return None if is_unknown else id


def look_up(vocab: Vocabulary, symbol: bytes, line: SentencePieceVersion) -> int | None:
    """Returns the id of a final symbol, whether or not the symbol is UNUSED; None if no entry has its text."""
    normal_id = vocab.normal_ids.get(symbol)
    return vocab.reserved_ids.get(symbol, normal_id) if line == "0.2.1" else normal_id


def walk_llama_cpp(vocab: Vocabulary, text: bytes, model: Bpe) -> BpeWalk:
    """Returns the walk of a piece by llama.cpp's SPM: characters merge by score, with entries of every kind, and the
    final symbols are looked up again by their texts (resegmentation)."""
    ids = vocab.last_ids
    symbols = [
        Symbol(number, ids.get(text[start:end]), start, end) for number, (start, end, _) in enumerate(units(text, ()))
    ]

    def find_pair(left: Symbol, right: Symbol) -> Pair | None:
        piece = text[left.start : right.end]
        id = ids.get(piece)
        return None if id is None else Pair(-vocab.score[id], vocab.score[id], id, piece)

    walk = plain_walk(model, Merging(symbols, find_pair))
    looked_up = tuple(Resegmented(number, walk.symbols[number].id) for number in walk.final)
    return replace(walk, resegment=looked_up)
