"""Numbers the entries of an edited vocabulary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from itertools import count, islice
from typing import Literal, NamedTuple

from ..errors import ArgumentError
from ..keywords import keyword
from ..records import dataclass
from .rows import Rows

IdPlan = Literal["reuse", "compact"]


class NewTexts(NamedTuple):
    """What needs an id: new entries in the order in which they are built, new special tokens, and a multiple to which
    the number of ids is padded."""

    pieces: Sequence[bytes]
    special: Sequence[str]
    multiple: int


@dataclass(frozen=True, slots=True)
class Numbering:
    """The new id of each old id, of each new entry and of each new special token, and the reserved ids."""

    kept: dict[int, int]
    pieces: dict[bytes, int]
    special: dict[str, int]
    reserved: list[int]


def number(rows: Rows, removed_ids: Set[int], new: NewTexts, plan: IdPlan) -> Numbering:
    """Numbers all entries; raises `ArgumentError` if the format of the file cannot have these ids."""
    return _compact(rows, removed_ids, new) if plan == "compact" else _reuse(rows, removed_ids, new)


def _reuse(rows: Rows, removed_ids: Set[int], new: NewTexts) -> Numbering:
    layout = rows.layout
    if layout.special_first and new.special:
        raise _renumber_error(rows, "all special tokens have names, and new ones need ids before those of the entries")
    row_ids = {row.id for row in rows.rows} - removed_ids
    used_ids = row_ids | rows.outside_ids
    last_row_id = max(row_ids, default=-1)
    first_id = last_row_id + 1 if layout.new_ids_last else 0
    piece_ids = list(islice(_free_ids(first_id, used_ids), len(new.pieces)))
    used_ids.update(piece_ids)
    last_entry_id = max(last_row_id, *piece_ids) if piece_ids else last_row_id
    if layout.special_last:
        _check_rows_in_order(rows, piece_ids, last_row_id)
    special_ids = list(islice(_free_ids(last_entry_id + 1 if layout.special_last else 0, used_ids), len(new.special)))
    used_ids.update(special_ids)
    size = 1 + max(used_ids, default=-1)
    end = last_entry_id + 1 if layout.special_last else size
    holes = [] if layout.has_gaps else [id for id in range(end) if id not in used_ids]
    padding = range(size, size + -size % new.multiple)
    if padding and layout.special_last and end != size:
        raise _renumber_error(rows, "reserved entries need ids before those of the special tokens")
    return Numbering(
        kept={id: id for id in sorted(row_ids | rows.outside_ids)},
        pieces=dict(zip(new.pieces, piece_ids, strict=True)),
        special=dict(zip(new.special, special_ids, strict=True)),
        reserved=[*holes, *padding],
    )


def _check_rows_in_order(rows: Rows, piece_ids: Sequence[int], last_row_id: int) -> None:
    """Raises `ArgumentError` if new entries cannot follow all others because special tokens have their ids."""
    if list(piece_ids) != list(range(last_row_id + 1, last_row_id + 1 + len(piece_ids))):
        raise _renumber_error(rows, "new entries need the ids after the last entry, which special tokens have")


def _renumber_error(rows: Rows, reason: str) -> ArgumentError:
    return ArgumentError(f"in a {rows.layout.format} file, {reason}: use {keyword('ids', 'compact')}")


def _free_ids(first_id: int, used_ids: Set[int]) -> Iterator[int]:
    return (id for id in count(first_id) if id not in used_ids)


def _compact(rows: Rows, removed_ids: Set[int], new: NewTexts) -> Numbering:
    layout = rows.layout
    row_ids = sorted({row.id for row in rows.rows} - removed_ids)
    outside_ids = sorted(rows.outside_ids)
    if not layout.special_first and not layout.special_last:
        row_ids, outside_ids = sorted([*row_ids, *outside_ids]), []
    size = len(row_ids) + len(outside_ids) + len(new.pieces) + len(new.special)
    padding_size = -size % new.multiple
    ids = count()
    special: list[int] = []
    kept: dict[int, int] = {}
    if layout.special_first:
        kept |= {id: next(ids) for id in outside_ids}
        special = [next(ids) for _ in new.special]
    kept |= {id: next(ids) for id in row_ids}
    pieces = {piece: next(ids) for piece in new.pieces}
    reserved = [next(ids) for _ in range(padding_size)] if layout.special_last else []
    if layout.special_last:
        kept |= {id: next(ids) for id in outside_ids}
    if not layout.special_first:
        special = [next(ids) for _ in new.special]
    if not layout.special_last:
        reserved = [next(ids) for _ in range(padding_size)]
    return Numbering(dict(sorted(kept.items())), pieces, dict(zip(new.special, special, strict=True)), reserved)
