"""Edits vocabularies of longest match, whose entries do not depend on each other and whose ids have 16 bits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count, islice

from ..conversion.gguf import BYTE_NEVER_IN_TEXT, with_every_id
from ..errors import ArgumentError, EncodeError, PieceError
from ..keywords import keyword
from ..lists import collect_entries
from ..reach import needed_variants, usages, words_of
from ..spec import Kind, LlamaCppDecode, Spec, SpecialToken, Vocab
from ..tokenizer import Tokenizer
from ..values import Text
from .numbering import IdPlan
from .request import Removal, Request, selected_among
from .result import Added, Edit
from .rows import shown_entry
from .select import rarest_first

_MAX_ID = 65_535
_MAX_ENTRY_BYTES = 65_535


def edit_longest(tokenizer: Tokenizer, request: Request, make_room: Iterable[Text] | None) -> Edit:
    """Removes entries from a longest-match vocabulary and adds entries, as `polytok.edit` does."""
    words, symbols = request.words, request.symbols
    rows = _VocabRows(tokenizer.spec, request.special)
    removed_entries = _removed_entries(rows.entries, request.removals)
    removable_entries = [] if make_room is None else rarest_first(tokenizer, make_room, rows.entries)
    requested_entries = added_entries = collect_entries([*words, *symbols])
    while True:
        removed_entries -= set(added_entries)
        shortage = _id_shortage(rows, removed_entries, added_entries)
        excluded_entries = removed_entries.union(added_entries)
        candidates = (entry for entry in removable_entries if entry not in excluded_entries)
        removed_entries |= set(islice(candidates, max(shortage, 0)))
        edited = _edited(tokenizer, rows, removed_entries, added_entries, request)
        variants = needed_variants(edited.tokenizer, symbols) - set(added_entries)
        if not variants:
            break
        added_entries = collect_entries([*added_entries, *variants])
    _check_ids(rows, edited, added_entries)
    usage = usages(edited.tokenizer, requested_entries, words=words_of(words) - set(symbols))
    return replace(edited, usage=usage)


def _edited(
    tokenizer: Tokenizer, rows: _VocabRows, removed_entries: set[bytes], added_entries: list[bytes], request: Request
) -> Edit:
    """Returns the vocabulary with entries removed and added. Ids can exceed 16 bits."""
    spec, old_entries = tokenizer.spec, rows.entries
    if added_entries and len(added_entries[-1]) > _MAX_ENTRY_BYTES:
        raise ArgumentError(
            f"an entry to add has {len(added_entries[-1])} bytes, but at most {_MAX_ENTRY_BYTES} are allowed"
        )
    new_entries = [entry for entry in added_entries if entry not in old_entries]
    remaining_entries = {entry: id for entry, id in old_entries.items() if entry not in removed_entries}
    new_ids = _assign_ids(rows.special_ids, remaining_entries, new_entries, request.plan)
    special_ids = _free_ids(rows.special_ids | {0} | set(new_ids.values()))
    new_special = [SpecialToken(text, next(special_ids)) for text in rows.new_special]
    size = 1 + max((*rows.special_ids, *new_ids.values(), *(token.id for token in new_special)), default=0)
    padding = range(size, size + -size % request.multiple)
    kept_ids = {id: id for id in rows.special_ids} | {id: new_ids[entry] for entry, id in remaining_entries.items()}
    new_spec = replace(
        spec,
        vocab=rows.vocab(new_ids, new_special, padding),
        special=(*spec.special, *new_special),
        origin=replace(spec.origin, name=None),
    )
    edited_tokenizer = Tokenizer(new_spec)
    removed = {old_entries[entry]: entry for entry in sorted(removed_entries, key=lambda entry: old_entries[entry])}
    return Edit(
        tokenizer=edited_tokenizer,
        kept=dict(sorted(kept_ids.items())),
        removed=removed,
        added=(
            *(Added(entry, new_ids[entry], _ids_of(tokenizer, entry)) for entry in new_entries),
            *(Added(token.text.encode(), token.id, ()) for token in new_special),
        ),
        present=tuple(entry for entry in added_entries if entry in old_entries),
        source=tokenizer,
        replaced={id: _ids_of(edited_tokenizer, entry) for id, entry in removed.items()},
        special_tokens={token.text: token.id for token in new_special},
        reserved=(*rows.gaps(new_spec.vocab, padding), *padding),
    )


def _ids_of(tokenizer: Tokenizer, entry: bytes) -> tuple[int, ...]:
    """Returns the ids of an entry's text; no ids if the vocabulary lacks one of its bytes."""
    try:
        return tuple(tokenizer.encode(entry))
    except EncodeError:
        return ()


class _VocabRows:
    """The rows of a vocabulary: the ids of ordinary entries, and the other rows, which are not edited."""

    def __init__(self, spec: Spec, special: Sequence[str]) -> None:
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
        known_texts = {token.text for token in spec.special}
        self.new_special = [text for text in special if text not in known_texts]
        for text in self.new_special:
            if not text or text.encode() in self.entries:
                reason = "it is already an ordinary entry" if text else "it is empty"
                raise ArgumentError(f"cannot add the special token {text!r}: {reason}")

    def _is_reserved(self, piece: bytes, id: int) -> bool:
        """Reports whether the piece is the row of a special token, or a row that no text is encoded to."""
        is_never_in_text = len(piece) > 1 and piece.startswith(BYTE_NEVER_IN_TEXT)
        return self.is_gguf and (is_never_in_text or (piece, id) in self.special_rows)

    def _is_filler(self, piece: bytes, id: int) -> bool:
        """Reports whether the piece reserves an unused id, which GGUF files need, and any file that was padded."""
        return piece == _reserved_row(id)[0]

    def gaps(self, vocab: Vocab, padding: Iterable[int]) -> Iterator[int]:
        """Yields the ids that rows of a GGUF file reserve, except those of the padding."""
        rows = zip(vocab.pieces(), vocab.ids.tolist(), strict=True)
        return (id for piece, id in rows if self._is_filler(piece, id) and id not in padding)

    def vocab(self, new_ids: Mapping[bytes, int], new_special: Sequence[SpecialToken], padding: Iterable[int]) -> Vocab:
        """Returns a vocabulary of these entries, the other rows, and reserved ones.

        Rows are ordered by length, which RWKV's table reader requires, or by id in a vocabulary from GGUF.
        """
        rows = [(entry, new_ids[entry], 0.0, Kind.NORMAL) for entry in sorted(new_ids, key=_rwkv_sort_key)]
        special_rows = [(token.text.encode(), token.id, 0.0, Kind.NORMAL) for token in new_special if self.is_gguf]
        vocab = Vocab.from_rows([*rows, *self.other_rows, *special_rows, *map(_reserved_row, padding)])
        return with_every_id(vocab, {}) if self.is_gguf else vocab


def _reserved_row(id: int) -> tuple[bytes, int, float, int]:
    """Returns a row that no text contains."""
    return BYTE_NEVER_IN_TEXT + b"[PAD%d]" % id, id, 0.0, Kind.NORMAL


def _removed_entries(old_entries: Mapping[bytes, int], remove: Iterable[Removal]) -> set[bytes]:
    removed_entries: set[bytes] = set()
    for removal in remove:
        if callable(removal):
            candidates = [entry for entry in old_entries if len(entry) > 1]
            removed_entries |= selected_among(candidates, candidates, removal)
            continue
        for entry in collect_entries([removal]):
            if entry not in old_entries:
                raise PieceError(f"cannot remove {shown_entry(entry)}: it is not an entry of the vocabulary")
            if len(entry) == 1:
                raise ArgumentError(
                    f"cannot remove {shown_entry(entry)}: the vocabulary needs all single bytes to encode every text"
                )
            removed_entries.add(entry)
    return removed_entries


def _free_ids(used_ids: set[int]) -> Iterator[int]:
    return (id for id in count() if id not in used_ids)


def _id_shortage(rows: _VocabRows, removed_entries: set[bytes], added_entries: Iterable[bytes]) -> int:
    """Returns the number of entries for which no id of 16 bits remains; a negative number is the number of free ids."""
    id_count = len(range(1, _MAX_ID + 1)) - sum(0 < id <= _MAX_ID for id in rows.special_ids)
    new_count = sum(entry not in rows.entries for entry in added_entries)
    return len(rows.entries) - len(removed_entries) + new_count + len(rows.new_special) - id_count


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
    last_id = max((*edited.kept.values(), *(entry.id for entry in edited.added), *edited.reserved), default=0)
    if edited.reserved and last_id == edited.reserved[-1] > _MAX_ID:
        raise ArgumentError(
            f"{keyword('pad_to_multiple')} needs the id {last_id}, but ids have 16 bits: choose another multiple"
        )
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
