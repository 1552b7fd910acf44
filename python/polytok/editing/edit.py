"""Removes entries from a vocabulary, adds entries, and reports the old and new ids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress, count
from typing import Literal, TypeAlias

from ..checked import checked
from ..conversion.gguf import BYTE_NEVER_IN_TEXT, with_every_id
from ..errors import ArgumentError, PieceError
from ..keywords import keyword
from ..lists import Entry, collect_entries
from ..loading import AnyTokenizer, as_tokenizer
from ..reach import UnusedEntries, needed_variants, unused_entries
from ..spec import Kind, LlamaCppDecode, Longest, Spec, Vocab, described
from ..tokenizer import Tokenizer
from .select import Selector

IdPlan = Literal["reuse", "compact"]
Removal: TypeAlias = "Entry | Selector"
"""An entry, the path of a file that lists entries, or a function that selects the entries to remove."""

_MAX_ID = 65_535
_MAX_ENTRY_BYTES = 65_535


@dataclass(frozen=True, slots=True)
class Added:
    """A new entry, its id, and the ids that the old vocabulary encodes the entry to."""

    piece: bytes
    id: int
    was: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Edit:
    """An edited vocabulary and the changes of its ids.

    ``kept`` maps the old id of each remaining entry and special token to its new id. ``removed`` maps the old ids of
    removed entries to the entries. ``present`` lists entries to add that the old vocabulary already had. To adapt an
    embedding matrix, copy the rows of ``kept``, and initialize the row of each added entry with the mean of the old
    rows whose ids are in ``was``. ``unused`` reports the entries to add that are not used after a letter, a space or a
    line feed, because another entry is the longest match there.
    """

    tokenizer: Tokenizer
    kept: Mapping[int, int]
    removed: Mapping[int, bytes]
    added: tuple[Added, ...]
    present: tuple[bytes, ...]
    unused: tuple[UnusedEntries, ...] = ()

    @property
    def summary(self) -> str:
        """A line with the numbers of entries removed and added, and of changed ids."""
        moved_count = sum(old_id != new_id for old_id, new_id in self.kept.items())
        noun = "entry" if len(self.removed) == 1 else "entries"
        ids = "id" if moved_count == 1 else "ids"
        parts = [f"{len(self.removed)} {noun} removed", f"{len(self.added)} added", f"{moved_count} {ids} changed"]
        if self.present:
            parts.append(f"{len(self.present)} to add {'were' if len(self.present) > 1 else 'was'} already present")
        return f"{', '.join(parts)}: ids up to {self.tokenizer.vocab_size - 1}"


@checked()
def edit(
    tokenizer: AnyTokenizer,
    *,
    remove: Iterable[Removal] = (),
    add: Entry | Iterable[Entry] = (),
    add_symbols: Entry | Iterable[Entry] = (),
    ids: IdPlan = "reuse",
) -> Edit:
    """Removes entries from a longest-match vocabulary and adds entries.

    ``tokenizer`` is a `polytok.Tokenizer`, or what `polytok.load` accepts. ``remove`` lists entries (texts or bytes),
    paths of files that list entries, and selectors such as those in `polytok.editing`: ``ENGLISH``, ``CODE``,
    ``script("Latin")``, ``matching(r"^[0-9]+$")``. A selector never removes single bytes. ``add`` lists entries and
    paths of files that list entries. An entry that is both removed and added stays.

    ``add_symbols`` lists entries that are not parts of words, such as emoji and kaomoji. If such an entry would not be
    used after a space, because the longest match there is an entry such as `` (``, the variant with a space before it
    is added too. The same holds for a line feed.

    With ``ids="reuse"``, each remaining entry keeps its id, and added entries get the lowest free ids, which are ids
    that were removed or never used. With ``ids="compact"``, all entries get new ids from 1 on, in the order of RWKV
    World: by length, then by bytes. Special tokens always keep their ids.

    Raises `ArgumentError` for a model other than longest match, for the removal of a single byte, without which some
    texts could not be encoded, and if an id would exceed 65,535; `PieceError` if an entry to remove is missing.

    >>> import polytok
    >>> old = polytok.train(["to be or not to be"], kind="longest-match", vocab_size=259, min_count=2)
    >>> result = polytok.edit(old, remove=[" be"], add=["not"])
    >>> result.added
    (Added(piece=b'not', id=258, was=(111, 112, 117)),)
    >>> result.summary
    '1 entry removed, 1 added, 0 ids changed: ids up to 258'
    """
    tokenizer = as_tokenizer(tokenizer)
    _check_model(tokenizer.spec)
    if ids not in ("reuse", "compact"):
        raise ArgumentError(f'unknown {keyword("ids", ids)}: choose "reuse" or "compact"')
    symbols = collect_entries(add_symbols)
    if isinstance(remove, (str, bytes)):
        raise ArgumentError(f"{keyword('remove=')} is a single entry: give a list of entries")
    removals = list(remove)
    requested_entries = added_entries = collect_entries([*collect_entries(add), *symbols])
    while True:
        result = _edited(tokenizer, removals, added_entries, ids)
        variants = needed_variants(result.tokenizer, symbols) - set(added_entries)
        if not variants:
            return replace(result, unused=tuple(unused_entries(result.tokenizer, requested_entries)))
        added_entries = collect_entries([*added_entries, *variants])


def _edited(tokenizer: Tokenizer, remove: Iterable[Removal], added_entries: list[bytes], ids: IdPlan) -> Edit:
    """Returns the vocabulary with entries removed and added."""
    spec = tokenizer.spec
    rows = _VocabRows(spec)
    old_entries, special_ids = rows.entries, _special_ids(spec, rows)
    if added_entries and len(added_entries[-1]) > _MAX_ENTRY_BYTES:
        raise ArgumentError(
            f"an entry to add has {len(added_entries[-1])} bytes, but at most {_MAX_ENTRY_BYTES} are allowed"
        )
    removed_entries = _removed_entries(old_entries, remove) - set(added_entries)
    new_entries = [entry for entry in added_entries if entry not in old_entries]
    remaining_entries = {entry: id for entry, id in old_entries.items() if entry not in removed_entries}
    new_ids = _assign_ids(special_ids, remaining_entries, new_entries, ids)
    kept_ids = {id: id for id in special_ids} | {id: new_ids[entry] for entry, id in remaining_entries.items()}
    origin = replace(spec.origin, name=None)
    return Edit(
        tokenizer=Tokenizer(replace(spec, vocab=rows.vocab(new_ids), origin=origin)),
        kept=dict(sorted(kept_ids.items())),
        removed={old_entries[entry]: entry for entry in sorted(removed_entries, key=lambda entry: old_entries[entry])},
        added=tuple(Added(entry, new_ids[entry], tuple(tokenizer.encode(entry))) for entry in new_entries),
        present=tuple(entry for entry in added_entries if entry in old_entries),
    )


def _check_model(spec: Spec) -> None:
    if spec.model != Longest():
        raise ArgumentError(
            f"only vocabularies of longest match can be edited, but the model of this one is {described(spec.model)}. "
            "In such a model, entries depend on each other: merges join other entries, and scores are balanced over "
            "all entries. Train a new vocabulary instead"
        )


class _VocabRows:
    """The rows of a vocabulary: the ids of ordinary entries, and the other rows, which are not edited."""

    def __init__(self, spec: Spec) -> None:
        self.entries: dict[bytes, int] = {}
        self.other_rows: list[tuple[bytes, int, float, int]] = []
        self.is_gguf = isinstance(spec.decode, LlamaCppDecode)
        vocab = spec.vocab
        for row in zip(vocab.pieces(), vocab.ids.tolist(), vocab.scores.tolist(), vocab.kinds.tolist(), strict=True):
            piece, id, _, kind = row
            if kind != Kind.NORMAL or (self._is_reserved(piece) and not self._is_filler(piece, id)):
                self.other_rows.append(row)
            elif not self._is_filler(piece, id):
                self.entries.setdefault(piece, id)

    def _is_reserved(self, piece: bytes) -> bool:
        return self.is_gguf and len(piece) > 1 and piece.startswith(BYTE_NEVER_IN_TEXT)

    def _is_filler(self, piece: bytes, id: int) -> bool:
        """Reports whether the piece is a placeholder for an unused id, which GGUF files need."""
        return self.is_gguf and piece == BYTE_NEVER_IN_TEXT + b"[PAD%d]" % id

    def vocab(self, new_ids: Mapping[bytes, int]) -> Vocab:
        """Returns a vocabulary of these entries and the other rows.

        Rows are ordered by length, which RWKV's table reader requires, or by id in a vocabulary from GGUF.
        """
        rows = [(entry, new_ids[entry], 0.0, Kind.NORMAL) for entry in sorted(new_ids, key=_rwkv_sort_key)]
        vocab = Vocab.from_rows([*rows, *self.other_rows])
        return with_every_id(vocab, {}) if self.is_gguf else vocab


def _shown_entry(entry: bytes) -> str:
    """Returns an entry as a message shows it: as text if it is UTF-8, else as bytes."""
    try:
        return repr(entry.decode())
    except UnicodeDecodeError:
        return repr(entry)


def _removed_entries(old_entries: Mapping[bytes, int], remove: Iterable[Removal]) -> set[bytes]:
    removed_entries: set[bytes] = set()
    for removal in remove:
        if callable(removal):
            removed_entries |= _selected_entries([entry for entry in old_entries if len(entry) > 1], removal)
            continue
        for entry in collect_entries([removal]):
            if entry not in old_entries:
                raise PieceError(f"cannot remove {_shown_entry(entry)}: it is not an entry of the vocabulary")
            if len(entry) == 1:
                raise ArgumentError(
                    f"cannot remove {_shown_entry(entry)}: the vocabulary needs all single bytes to encode every text"
                )
            removed_entries.add(entry)
    return removed_entries


def _selected_entries(entries: Sequence[bytes], selector: Selector) -> set[bytes]:
    is_selected = selector(entries)
    if len(is_selected) != len(entries):
        raise ArgumentError(
            f"a selector returned {len(is_selected)} values for {len(entries)} entries: return one value for each entry"
        )
    return set(compress(entries, is_selected))


def _special_ids(spec: Spec, rows: _VocabRows) -> set[int]:
    return {token.id for token in spec.special} | {row[1] for row in rows.other_rows}


def _free_ids(used_ids: set[int]) -> Iterator[int]:
    return (id for id in count() if id not in used_ids)


def _check_max_id(ids: dict[bytes, int]) -> dict[bytes, int]:
    """Returns the ids. Raises `ArgumentError` if an id exceeds 16 bits."""
    last_id = max(ids.values(), default=0)
    if last_id > _MAX_ID:
        raise ArgumentError(
            f"the largest id would be {last_id}, but ids have 16 bits: remove {last_id - _MAX_ID} more entries"
        )
    return ids


def _assign_ids(
    special_ids: set[int], remaining_entries: Mapping[bytes, int], new_entries: Iterable[bytes], plan: IdPlan
) -> dict[bytes, int]:
    """Returns the new ids of all entries. Id 0 is always reserved for the end of a text."""
    if plan == "compact":
        free_ids = _free_ids(special_ids | {0})
        return _check_max_id(
            {entry: next(free_ids) for entry in sorted([*remaining_entries, *new_entries], key=_rwkv_sort_key)}
        )
    free_ids = _free_ids(special_ids | {0} | set(remaining_entries.values()))
    return _check_max_id({**remaining_entries, **{entry: next(free_ids) for entry in new_entries}})


def _rwkv_sort_key(entry: bytes) -> tuple[int, bytes]:
    return len(entry), entry
