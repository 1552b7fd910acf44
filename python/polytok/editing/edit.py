"""Removes entries from a vocabulary, adds entries, and reports the old and new ids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress, count, islice
from typing import Literal, TypeAlias

from ..checked import checked
from ..checks import iterable
from ..conversion.gguf import BYTE_NEVER_IN_TEXT, with_every_id
from ..errors import ArgumentError, EncodeError, PieceError
from ..keywords import keyword
from ..lists import Entry, collect_entries
from ..loading import AnyTokenizer, as_tokenizer
from ..reach import Usage, needed_variants, usages, words_of
from ..spec import Kind, LlamaCppDecode, Longest, Spec, Vocab, described
from ..tokenizer import Tokenizer
from ..values import Text
from .select import Selector, rarest_first

IdPlan = Literal["reuse", "compact"]
Removal: TypeAlias = "Entry | Selector"
"""An entry, the path of a file that lists entries, or a function that selects the entries to remove."""

_MAX_ID = 65_535
_MAX_ENTRY_BYTES = 65_535


@dataclass(frozen=True, slots=True)
class Added:
    """A new entry, its id, and the ids that the old vocabulary encodes the entry to.

    No ids are stored if the old vocabulary lacks one of the entry's bytes.
    """

    piece: bytes
    id: int
    was: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Edit:
    """An edited vocabulary and the changes of its ids.

    ``kept`` maps the old id of each remaining entry and special token to its new id. ``removed`` maps the old ids of
    removed entries to the entries. ``present`` lists entries to add that the old vocabulary already had. To adapt an
    embedding matrix, copy the rows of ``kept``, and initialize the row of each added entry with the mean of the old
    rows whose ids are in ``was``. ``usage`` reports how many of the entries to add are one token at the start of a
    text, after a letter, after a space and after a line feed; the others are not used there, because another entry is
    the longest match.
    """

    tokenizer: Tokenizer
    kept: Mapping[int, int]
    removed: Mapping[int, bytes]
    added: tuple[Added, ...]
    present: tuple[bytes, ...]
    usage: tuple[Usage, ...] = ()

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


@checked(make_room=lambda name, value: iterable(name, value, "texts"))
def edit(
    tokenizer: AnyTokenizer,
    *,
    remove: Iterable[Removal] = (),
    add: Entry | Iterable[Entry] = (),
    add_symbols: Entry | Iterable[Entry] = (),
    make_room: Iterable[Text] | None = None,
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

    Ids have 16 bits, so at most 65,535 ids are possible besides id 0. If the added entries need more ids than are free,
    ``make_room``, which is texts, removes the entries that occur least often in the texts, as many as necessary.

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
    words, symbols = collect_entries(add), collect_entries(add_symbols)
    rows = _VocabRows(tokenizer.spec)
    removed_entries = _removed_entries(rows.entries, _removals(remove))
    removable_entries = [] if make_room is None else rarest_first(tokenizer, make_room, rows.entries)
    requested_entries = added_entries = collect_entries([*words, *symbols])
    while True:
        removed_entries -= set(added_entries)
        shortage = _id_shortage(rows, removed_entries, added_entries)
        excluded_entries = removed_entries.union(added_entries)
        candidates = (entry for entry in removable_entries if entry not in excluded_entries)
        removed_entries |= set(islice(candidates, max(shortage, 0)))
        edited = _edited(tokenizer, rows, removed_entries, added_entries, ids)
        variants = needed_variants(edited.tokenizer, symbols) - set(added_entries)
        if not variants:
            break
        added_entries = collect_entries([*added_entries, *variants])
    _check_ids(rows, edited, added_entries)
    usage = usages(edited.tokenizer, requested_entries, words=words_of(words) - set(symbols))
    return replace(edited, usage=usage)


def _removals(remove: Iterable[Removal]) -> list[Removal]:
    """Returns the removals as a list. Raises `ArgumentError` for a single entry and for a list inside of the list."""
    if isinstance(remove, (str, bytes)):
        raise ArgumentError(f"{keyword('remove=')} is a single entry: give a list of entries")
    removals = list(remove)
    for removal in removals:
        if isinstance(removal, (list, tuple, set)):
            raise ArgumentError(
                f"{keyword('remove=')} contains a list: unpack it with *, as in remove=[*least_used(...)], or pass it "
                "alone, as in remove=least_used(...)"
            )
    return removals


def _edited(
    tokenizer: Tokenizer, rows: _VocabRows, removed_entries: set[bytes], added_entries: list[bytes], ids: IdPlan
) -> Edit:
    """Returns the vocabulary with entries removed and added. Ids can exceed 16 bits."""
    spec, old_entries = tokenizer.spec, rows.entries
    if added_entries and len(added_entries[-1]) > _MAX_ENTRY_BYTES:
        raise ArgumentError(
            f"an entry to add has {len(added_entries[-1])} bytes, but at most {_MAX_ENTRY_BYTES} are allowed"
        )
    new_entries = [entry for entry in added_entries if entry not in old_entries]
    remaining_entries = {entry: id for entry, id in old_entries.items() if entry not in removed_entries}
    new_ids = _assign_ids(rows.special_ids, remaining_entries, new_entries, ids)
    kept_ids = {id: id for id in rows.special_ids} | {id: new_ids[entry] for entry, id in remaining_entries.items()}
    origin = replace(spec.origin, name=None)
    return Edit(
        tokenizer=Tokenizer(replace(spec, vocab=rows.vocab(new_ids), origin=origin)),
        kept=dict(sorted(kept_ids.items())),
        removed={old_entries[entry]: entry for entry in sorted(removed_entries, key=lambda entry: old_entries[entry])},
        added=tuple(Added(entry, new_ids[entry], _old_ids(tokenizer, entry)) for entry in new_entries),
        present=tuple(entry for entry in added_entries if entry in old_entries),
    )


def _old_ids(tokenizer: Tokenizer, entry: bytes) -> tuple[int, ...]:
    """Returns the ids of an entry in the old vocabulary; no ids if the vocabulary lacks one of its bytes."""
    try:
        return tuple(tokenizer.encode(entry))
    except EncodeError:
        return ()


def _check_model(spec: Spec) -> None:
    if spec.model != Longest():
        raise ArgumentError(
            f"only vocabularies of longest match can be edited, but the model of this one is {described(spec.model)}. "
            "In such a model, entries depend on each other: merges join other entries, and scores are balanced over "
            "all entries. Train a new vocabulary, or add texts as added_tokens of a tokenizer.json or as user-defined "
            "symbols of a SentencePiece model, which are matched before the model"
        )


class _VocabRows:
    """The rows of a vocabulary: the ids of ordinary entries, and the other rows, which are not edited."""

    def __init__(self, spec: Spec) -> None:
        self.entries: dict[bytes, int] = {}
        self.other_rows: list[tuple[bytes, int, float, int]] = []
        self.is_gguf = isinstance(spec.decode, LlamaCppDecode)
        self.special_ids = {token.id for token in spec.special}
        self.special_rows = {(token.text.encode(), token.id) for token in spec.special}
        vocab = spec.vocab
        for row in zip(vocab.pieces(), vocab.ids.tolist(), vocab.scores.tolist(), vocab.kinds.tolist(), strict=True):
            piece, id, _, kind = row
            if kind != Kind.NORMAL or (self._is_reserved(piece, id) and not self._is_filler(piece, id)):
                self.other_rows.append(row)
            elif not self._is_filler(piece, id):
                self.entries.setdefault(piece, id)
        self.special_ids |= {id for _, id, _, _ in self.other_rows}

    def _is_reserved(self, piece: bytes, id: int) -> bool:
        """Reports whether the piece is the row of a special token, or a row that no text is encoded to."""
        is_never_in_text = len(piece) > 1 and piece.startswith(BYTE_NEVER_IN_TEXT)
        return self.is_gguf and (is_never_in_text or (piece, id) in self.special_rows)

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


def _free_ids(used_ids: set[int]) -> Iterator[int]:
    return (id for id in count() if id not in used_ids)


def _id_shortage(rows: _VocabRows, removed_entries: set[bytes], added_entries: Iterable[bytes]) -> int:
    """Returns the number of entries for which no id of 16 bits remains; a negative number is the number of free ids."""
    id_count = len(range(1, _MAX_ID + 1)) - sum(0 < id <= _MAX_ID for id in rows.special_ids)
    new_count = sum(entry not in rows.entries for entry in added_entries)
    return len(rows.entries) - len(removed_entries) + new_count - id_count


def _check_ids(rows: _VocabRows, edited: Edit, added_entries: Sequence[bytes]) -> None:
    """Raises `ArgumentError` if an id exceeds 16 bits."""
    removed_entries = set(edited.removed.values())
    shortage = _id_shortage(rows, removed_entries, added_entries)
    if shortage > 0:
        free_count = max(-_id_shortage(rows, removed_entries, ()), 0)
        noun = "entry" if shortage == 1 else "entries"
        raise ArgumentError(
            f"{len(edited.added)} entries to add need ids, but {free_count} ids are free, because ids have 16 bits: "
            f"remove {shortage} {noun}, or pass texts with {keyword('make_room')}, which removes the entries that the "
            "texts use least"
        )
    last_id = max((*edited.kept.values(), *(entry.id for entry in edited.added)), default=0)
    if last_id > _MAX_ID:
        raise ArgumentError(f"the file has the id {last_id}, but ids have 16 bits: use {keyword('ids', 'compact')}")


def _assign_ids(
    special_ids: set[int], remaining_entries: Mapping[bytes, int], new_entries: Iterable[bytes], plan: IdPlan
) -> dict[bytes, int]:
    """Returns the new ids of all entries. Id 0 is always reserved for the end of a text."""
    if plan == "compact":
        free_ids = _free_ids(special_ids | {0})
        return {entry: next(free_ids) for entry in sorted([*remaining_entries, *new_entries], key=_rwkv_sort_key)}
    free_ids = _free_ids(special_ids | {0} | set(remaining_entries.values()))
    return {**remaining_entries, **{entry: next(free_ids) for entry in new_entries}}


def _rwkv_sort_key(entry: bytes) -> tuple[int, bytes]:
    return len(entry), entry
