"""BPE: an entry is built by merges of other entries, down to single symbols.

Whether an entry can be reached follows from its derivation (conversion/derivation.py): the only pair of entries that
ever merges to it. If one of the two is removed, the entry is lost. So a text keeps its tokens unless one is removed.

A new entry is added at the end, with the lowest priority: after all other merges, its text has some tokens, and new
merges join these to the entry. Every merge but the last one builds an entry that is already present or an intermediate
one. No text that contains none of the new entries changes its ids, because new merges come after all others.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ... import _core
from ...columns import has_kind
from ...conversion.derivation import DerivationKind
from ...conversion.rows import with_texts
from ...errors import ArgumentError
from ...spec import Bpe, Kind, Spec, Vocab
from ..rows import Rows, shown_entry
from .base import Family, NewEntry
from .joining import next_pair

_FIRST_PRIVATE_CHARACTER = 0xF0000


class _Merge(NamedTuple):
    """What two adjacent symbols become, and the priority of the merge: the lowest first."""

    priority: tuple[int, float]
    piece: bytes


class _Derivations(NamedTuple):
    """The pair of ids that builds each row, and how the row is built, as `DerivationKind`."""

    left: npt.NDArray[np.uint32]
    right: npt.NDArray[np.uint32]
    kind: npt.NDArray[np.uint8]


class BpeFamily(Family):
    """A vocabulary that merges pairs: those of a list, or all pairs whose concatenation is an entry."""

    def __init__(self, rows: Rows, model: Bpe) -> None:
        super().__init__(rows)
        self._model = model
        self._prefix, self._suffix = model.continuing_prefix.encode(), model.word_suffix.encode()
        self._priorities: dict[bytes, tuple[int, float]] = {}
        self._listed: dict[tuple[bytes, bytes], _Merge] = {}
        self._new_merges: list[tuple[bytes, bytes, bytes]] = []
        self._next_score = 0.0
        self._needs_symbols = model.merges is not None or model.symbols == "groups"
        self._derivations: _Derivations | None = None

    # Texts

    def without_affixes(self, piece: bytes) -> tuple[bytes, bytes]:
        """Returns a piece without the affixes that mark its place in a word, and the suffix if it has one."""
        suffix = self._suffix_of(piece)
        body = piece[: len(piece) - len(suffix)]
        return (body if self.begins_a_word(body) else body[len(self._prefix) :]), suffix

    def _suffix_of(self, piece: bytes) -> bytes:
        return self._suffix if self._suffix and piece.endswith(self._suffix) and piece != self._suffix else b""

    def begins_a_word(self, piece: bytes) -> bool:
        """Reports whether a piece can be the first token of a word."""
        return not self._prefix or not (piece.startswith(self._prefix) and len(piece) > len(self._prefix))

    def is_word(self, piece: bytes) -> bool:
        """Reports whether a piece can be all of a text."""
        return self.begins_a_word(piece) and (not self._suffix or piece.endswith(self._suffix))

    def check(self, piece: bytes) -> None:
        """Raises `ArgumentError` for an entry that the vocabulary cannot contain."""
        if self._model.symbols != "bytes":
            super().check(piece)

    def _symbols(self, piece: bytes) -> list[bytes]:
        """Returns the symbols from which the merging of a piece starts."""
        if self._model.symbols == "bytes":
            return [piece[at : at + 1] for at in range(len(piece))]
        suffix = self._suffix_of(piece)
        body = piece[: len(piece) - len(suffix)]
        prefix = b"" if self.begins_a_word(body) else self._prefix
        characters = [char.encode("utf-8", "surrogateescape") for char in _decode(body[len(prefix) :])]
        first, *others = characters or [b""]
        symbols = [prefix + first, *(self._prefix + char for char in others)]
        symbols[-1] += suffix
        return symbols

    # Removal

    def covers_a_character(self, piece: bytes) -> bool:
        """Reports whether texts with a byte or character would have no tokens without this entry."""
        if self._model.symbols == "bytes":
            return len(piece) == 1
        return super().covers_a_character(self.without_affixes(piece)[0])

    def lost_entries(self, removed_ids: Set[int]) -> dict[int, set[int]]:
        """Returns the ids of entries that stay although their halves are removed, with these halves.

        Other pairs could still build such an entry, but not in the same texts.
        """
        if not removed_ids:
            return {}
        left, right, kind = self._derivations = self._derivations or self._derive()
        removed = np.fromiter(removed_ids, dtype=np.uint32)
        if self._model.symbols == "chars":  # a character needs no entry to be merged
            removed = np.setdiff1d(removed, self.spec.vocab.ids[has_kind(kind, DerivationKind.SYMBOL)])
        is_left_removed, is_right_removed = np.isin(left, removed), np.isin(right, removed)
        is_lost = has_kind(kind, DerivationKind.MERGED) & (is_left_removed | is_right_removed)
        ids = self.spec.vocab.ids
        rows = np.flatnonzero(is_lost & ~np.isin(ids, np.fromiter(removed_ids, dtype=np.uint32)))
        halves_removed = set(removed.tolist())
        return {int(ids[row]): {int(left[row]), int(right[row])} & halves_removed for row in rows.tolist()}

    def _derive(self) -> _Derivations:
        """Returns the pair that builds each entry."""
        model = self._model
        symbols = "bytes" if model.symbols == "bytes" else "chars"
        plain_vocab = self._with_plain_texts(self.spec.vocab)
        return _Derivations(*_core.bpe_derivations(plain_vocab, model.priority, model.merges, symbols, model.reserved))

    def _with_plain_texts(self, vocab: Vocab) -> Vocab:
        """Returns the vocabulary with a character for each symbol, if symbols have affixes."""
        if not (self._prefix or self._suffix):
            return vocab
        numbers: dict[bytes, int] = {}
        texts = (
            "".join(chr(_FIRST_PRIVATE_CHARACTER + numbers.setdefault(symbol, len(numbers))) for symbol in symbols)
            for symbols in map(self._symbols, vocab.pieces())
        )
        return with_texts(vocab, [text.encode() for text in texts])

    # Addition

    def begin(self, removed_ids: Set[int]) -> None:
        """Removes entries, and the merges that make or need them."""
        super().begin(removed_ids)
        rows = [row for row in self.rows.rows if row.id not in removed_ids]
        self._next_score = min((row.score for row in rows if row.kind == Kind.NORMAL), default=0.0)
        if self._model.merges is not None:
            piece_of_id = {row.id: row.piece for row in rows}
            for rank, ids in enumerate(self._model.merges.tolist()):
                if all(id in piece_of_id for id in ids):
                    left, right, piece = (piece_of_id[id] for id in ids)
                    self._listed[left, right] = _Merge((0, rank), piece)
            return
        is_by_rank = self._model.priority == "rank"
        is_for_all_kinds = self._model.symbols != "chars" or self._model.reserved
        for row in rows:
            if is_for_all_kinds or row.kind in (Kind.NORMAL, Kind.UNUSED, Kind.USER_DEFINED):
                self._priorities[row.piece] = (0, row.id if is_by_rank else -row.score)

    def add(self, piece: bytes) -> None:
        """Adds an entry, the merges that build it, and the intermediate entries that they need."""
        if self.rows.layout.format == "minbpe" and piece in self.pieces:
            return
        if self._needs_symbols:
            for symbol in self._symbols(piece):
                if symbol not in self.pieces:
                    self.append(NewEntry(symbol))
        while len(parts := self.segment(piece)) > 1:
            self._join(*next_pair(parts, self._is_known, self._joined))
        if piece not in self.pieces:
            self._append_scored(piece)

    def segment(self, piece: bytes) -> list[bytes]:
        """Returns the parts to which the text of a piece is merged."""
        parts = self._symbols(piece)
        while True:
            pairs = ((self._merge_of(*pair), at) for at, pair in enumerate(pairwise(parts)))
            candidates = [(merge, at) for merge, at in pairs if merge is not None]
            if not candidates:
                return parts
            merge, at = min(candidates, key=lambda candidate: (candidate[0].priority, candidate[1]))
            parts[at : at + 2] = [merge.piece]

    def merges(self) -> list[tuple[bytes, bytes, bytes]]:
        """Returns the merges to append to a list of merges: left piece, right piece, and merged piece."""
        return self._new_merges

    def spell(self, spec: Spec, pieces: Sequence[bytes]) -> list[tuple[int, ...]]:
        """Returns the ids to which the model of a Spec encodes each piece; no ids if it cannot encode a piece."""
        if not (self._prefix or self._suffix):
            return super().spell(spec, pieces)
        assert isinstance(spec.model, Bpe)
        family = BpeFamily(Rows(spec), spec.model)
        family.begin(frozenset())
        parts_of_pieces = map(family.segment, pieces)
        return [
            tuple(map(family.pieces.__getitem__, parts)) if family.pieces.keys() >= set(parts) else ()
            for parts in parts_of_pieces
        ]

    def _merge_of(self, left: bytes, right: bytes) -> _Merge | None:
        if self._model.merges is not None:
            return self._listed.get((left, right))
        priority = self._priorities.get(left + right)
        return None if priority is None else _Merge(priority, left + right)

    def _joined(self, left: bytes, right: bytes) -> bytes:
        return left + (right[len(self._prefix) :] if self._prefix and right.startswith(self._prefix) else right)

    def _is_known(self, piece: bytes) -> bool:
        return piece in self.pieces and self.rows.layout.format != "minbpe"

    def _join(self, left: bytes, right: bytes) -> None:
        """Adds the merge of a pair, and the entry that it builds."""
        piece = self._joined(left, right)
        if piece in self.pieces and not self._can_merge_to(piece):
            raise ArgumentError(
                f"the new entries need {shown_entry(piece)}, which is already an entry that cannot be merged here: "
                "add other entries, or add the text as a special token"
            )
        if piece not in self.pieces:
            self._append_scored(piece)
        if self._model.merges is not None:
            self._listed[left, right] = _Merge((1, len(self._new_merges)), piece)
            self._new_merges.append((left, right, piece))

    def _can_merge_to(self, piece: bytes) -> bool:
        return (
            self._model.merges is not None
            and self.rows.layout.format != "minbpe"
            and self.pieces[piece] not in (self.rows.fixed_ids)
        )

    def _append_scored(self, piece: bytes) -> None:
        """Adds an entry with a lower priority than all others."""
        is_by_score = self._model.priority == "score"
        if is_by_score:
            self._next_score = _lower_score(self._next_score)
        self.append(NewEntry(piece, self._next_score if is_by_score else 0.0))
        self._priorities[piece] = (1, len(self.new_entries))


def _lower_score(score: float) -> float:
    """Returns a score below another one, also if both are rounded to float32."""
    lower = np.float32(score - 1)
    return float(lower if lower < np.float32(score) else np.nextafter(np.float32(score), np.float32(-np.inf)))


def _decode(piece: bytes) -> str:
    return piece.decode("utf-8", "surrogateescape")
