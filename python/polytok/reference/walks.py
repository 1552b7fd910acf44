"""What the models did with a piece, as plain data: one walk for each kind of model.

The models of this package return walks, from which `polytok.trace` draws. Offsets are in bytes of the piece. All walks
have these fields:

* ``segments``: the result of the model: parts of the piece, each with its id (None: no entry covers the part).
* ``bytes``: the segments that are encoded byte by byte. ``unknown``: the segments that are encoded to the unknown
  entry, or to nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from polytok.reference.stages import Segment


@dataclass(frozen=True, slots=True)
class ByteFallback:
    """A part of the piece that is encoded as the ids of its bytes."""

    start: int
    end: int
    ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class UnknownText:
    """A part of the piece that no entry covers. ``id`` is the unknown entry; None if the text is dropped.

    ``joined``: adjacent unknown text was joined to one part.
    """

    start: int
    end: int
    id: int | None
    joined: bool = False


# BPE


@dataclass(frozen=True, slots=True)
class Symbol:
    """A symbol of BPE. Symbols are numbered in the order in which they are created, so merges form a tree.

    ``children`` are the numbers of the two symbols that were merged; None for a symbol that merging starts from.
    ``merges`` is False for a user-defined piece, which never merges.
    """

    number: int
    id: int | None
    start: int
    end: int
    children: tuple[int, int] | None = None
    merges: bool = True


@dataclass(frozen=True, slots=True)
class Queued:
    """A pair of symbols enters the queue. ``priority`` is the place in the list of merges, the rank, or the score."""

    kind: ClassVar[str] = "queue"
    left: int
    right: int
    piece: bytes
    id: int | None
    priority: float


@dataclass(frozen=True, slots=True)
class Merged:
    """The best pair of the queue is merged to the symbol ``result``. Steps are numbered from 1."""

    kind: ClassVar[str] = "merge"
    step: int
    left: int
    right: int
    result: int
    priority: float


@dataclass(frozen=True, slots=True)
class Stale:
    """A pair leaves the queue but cannot merge, because the merge ``step`` has used one of its symbols."""

    kind: ClassVar[str] = "stale"
    left: int
    right: int
    priority: float
    step: int


BpeEvent: TypeAlias = Queued | Merged | Stale


@dataclass(frozen=True, slots=True)
class SplitUnused:
    """A final part whose entry is UNUSED, which is split again into two parts (SentencePiece)."""

    start: int
    middle: int
    end: int
    id: int


@dataclass(frozen=True, slots=True)
class Resegmented:
    """A final symbol that llama.cpp looks up again by its text. ``id`` is None if no entry has the text."""

    symbol: int
    id: int | None


@dataclass(frozen=True, slots=True)
class BpeWalk:
    """The walk of byte-pair encoding.

    ``symbols`` has all symbols; the first ``initial_count`` are those that merging starts from. ``final`` are the
    numbers of those that remain. With ``whole_piece`` the piece is an entry and is taken without merging. Of equal
    priorities the leftmost pair merges first; ``priority`` says which priority is the best one: the lowest place in the
    list (``merges``), the lowest ``rank``, or the highest ``score``.
    """

    kind: ClassVar[str] = "bpe"
    priority: Literal["merges", "rank", "score"]
    symbols: tuple[Symbol, ...]
    initial_count: int
    events: tuple[BpeEvent, ...]
    final: tuple[int, ...]
    segments: tuple[Segment, ...]
    whole_piece: int | None = None
    split_unused: tuple[SplitUnused, ...] = ()
    resegment: tuple[Resegmented, ...] = ()
    bytes: tuple[ByteFallback, ...] = ()
    unknown: tuple[UnknownText, ...] = ()


# Unigram


@dataclass(frozen=True, slots=True)
class Edge:
    """A candidate of the lattice. ``sum`` is the score of the best path to its start, plus its own score.

    ``is_best``: the best path to its end ends with it. ``on_path``: it is a part of the best path of the whole piece.
    """

    start: int
    end: int
    id: int | None
    piece: bytes
    score: float
    sum: float
    is_best: bool
    on_path: bool


@dataclass(frozen=True, slots=True)
class RunnerUp:
    """A segmentation that is worse than the best one; ``ends`` are the ends of its parts."""

    ids: tuple[int | None, ...]
    ends: tuple[int, ...]
    score: float


@dataclass(frozen=True, slots=True)
class UnigramWalk:
    """The walk of Unigram: ``nodes`` are the offsets of characters, ``edges`` the candidates, ``best`` the indexes of
    the edges of the best path. ``rounding`` says how the sums are computed."""

    kind: ClassVar[str] = "unigram"
    rules: Literal["sentencepiece", "huggingface", "llama.cpp"]
    rounding: str
    nodes: tuple[int, ...]
    edges: tuple[Edge, ...]
    best: tuple[int, ...]
    score: float
    runners_up: tuple[RunnerUp, ...]
    segments: tuple[Segment, ...]
    bytes: tuple[ByteFallback, ...] = ()
    unknown: tuple[UnknownText, ...] = ()


# The other models


@dataclass(frozen=True, slots=True)
class Attempt:
    """A text that WordPiece looked up: ``piece`` is the part of the piece with the prefix. ``id`` is None if no entry
    has this text."""

    start: int
    end: int
    piece: bytes
    id: int | None


@dataclass(frozen=True, slots=True)
class WordPieceWalk:
    """The walk of WordPiece. ``why`` says why the piece is unknown as a whole; None if it is not."""

    kind: ClassVar[str] = "wordpiece"
    attempts: tuple[Attempt, ...]
    segments: tuple[Segment, ...]
    why: str | None = None
    bytes: tuple[ByteFallback, ...] = ()
    unknown: tuple[UnknownText, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entry with which the rest of the piece begins."""

    id: int
    end: int


@dataclass(frozen=True, slots=True)
class Position:
    """A place at which longest match looks for an entry; ``candidates`` has the shortest entry first, the last one is
    taken. Without candidates, the byte there is unknown."""

    start: int
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class LongestWalk:
    """The walk of longest match."""

    kind: ClassVar[str] = "longest"
    positions: tuple[Position, ...]
    segments: tuple[Segment, ...]
    bytes: tuple[ByteFallback, ...] = ()
    unknown: tuple[UnknownText, ...] = ()


@dataclass(frozen=True, slots=True)
class WholeWalk:
    """The walk of the models that look texts up as they are: words, characters, or whole pieces. ``unit`` names the
    texts that are looked up."""

    kind: ClassVar[str] = "whole"
    unit: Literal["piece", "word", "character"]
    segments: tuple[Segment, ...]
    bytes: tuple[ByteFallback, ...] = ()
    unknown: tuple[UnknownText, ...] = ()


@dataclass(frozen=True, slots=True)
class SuffixCost:
    """The cheapest way from an offset to the end of the piece: its cost in ten-thousandths, and its first token, which
    ends at ``end``. ``id`` is None for a character that is encoded byte by byte. ``on_path``: it is a part of the
    result."""

    start: int
    end: int
    id: int | None
    cost: int
    on_path: bool


@dataclass(frozen=True, slots=True)
class Plamo2Walk:
    """The walk of PLaMo-2: the table from the end of the piece to its start."""

    kind: ClassVar[str] = "plamo2"
    table: tuple[SuffixCost, ...]
    segments: tuple[Segment, ...]
    bytes: tuple[ByteFallback, ...] = ()
    unknown: tuple[UnknownText, ...] = ()


Walk: TypeAlias = BpeWalk | UnigramWalk | WordPieceWalk | LongestWalk | WholeWalk | Plamo2Walk
