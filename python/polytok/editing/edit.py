"""Removes and adds entries; ids that stay, ids that go, and what new ids mean in old ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, Literal, TypeAlias

from ..errors import ArgumentError, PieceError
from ..lists import Entry, listed
from ..spec import Kind, Longest, Spec, Vocab, described
from ..tokenizer import Tokenizer
from .select import Selector

IdPlan = Literal["reuse", "compact"]
Removal: TypeAlias = "Entry | Selector"
"""An entry, a path of a file with an entry on each line, or what says of each entry whether it goes."""

_MOST_ID = 65_535
_LONGEST = 65_535


@dataclass(frozen=True, slots=True)
class Added:
    """A new entry, its id, and the ids of the old vocabulary that it was spelled with."""

    piece: bytes
    id: int
    was: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Edit:
    """An edited vocabulary, and the fate of every id.

    ``kept`` maps the old id of every entry and special token that stays to its new id; ``removed`` has the entries that
    went by their old ids; ``present`` are entries that were to be added and were there. An embedding is carried over by
    copying the rows of ``kept``, and begins for an added entry as the mean of the rows of its ``was``.
    """

    tokenizer: Tokenizer
    kept: Mapping[int, int]
    removed: Mapping[int, bytes]
    added: tuple[Added, ...]
    present: tuple[bytes, ...]

    @property
    def summary(self) -> str:
        """What changed, in a line."""
        moved = sum(old != new for old, new in self.kept.items())
        parts = [f"{len(self.removed)} entries removed", f"{len(self.added)} added", f"{moved} ids changed"]
        if self.present:
            parts.append(f"{len(self.present)} to add were there already")
        return f"{', '.join(parts)}: ids up to {self.tokenizer.vocab_size - 1}"


def edit(
    tokenizer: Tokenizer,
    *,
    remove: Iterable[Removal] = (),
    add: Entry | Iterable[Entry] = (),
    ids: IdPlan = "reuse",
) -> Edit:
    """A vocabulary of longest match without some entries and with others.

    ``remove`` are entries (texts or bytes), paths of files with an entry on each line, and selectors such as those of
    `polytok.editing`: ``ENGLISH``, ``CODE``, ``script("Latin")``, ``matching(r"^[0-9]+$")``. Selectors never take
    single bytes. ``add`` are entries and such paths; one that is both removed and added stays.

    With ``ids="reuse"`` every entry that stays keeps its id, and added ones get the lowest ids that are free, of those
    that were removed or never used. With ``"compact"`` all entries are numbered anew as in RWKV World, by
    length and bytes from 1 on; special tokens keep their ids.

    Raises `ArgumentError` for another model than longest match, for the removal of a single byte, without which there
    would be texts that cannot be encoded, and where ids would pass 65,535; `PieceError` for an entry to remove that is
    not there.

    >>> import polytok
    >>> old = polytok.train(["to be or not to be"], kind="longest-match", vocab_size=259, min_count=2)
    >>> result = polytok.edit(old, remove=[" be"], add=["not"])
    >>> result.added
    (Added(piece=b'not', id=258, was=(111, 112, 117)),)
    >>> result.summary
    '1 entries removed, 1 added, 0 ids changed: ids up to 258'
    """
    spec = tokenizer.spec
    _check_model(spec)
    if ids not in ("reuse", "compact"):
        raise ArgumentError(f'ids={ids!r} is neither "reuse" nor "compact"')
    old = _entries(spec)
    wanted = listed(add)
    if wanted and len(wanted[-1]) > _LONGEST:
        raise ArgumentError(f"an entry to add has {len(wanted[-1])} bytes; at most {_LONGEST} can be")
    gone = _removed(old, remove) - set(wanted)
    new = [entry for entry in wanted if entry not in old]
    staying = {entry: id for entry, id in old.items() if entry not in gone}
    numbers = _reused(spec, staying, new) if ids == "reuse" else _compacted(spec, [*staying, *new])
    edited = Tokenizer(_rebuilt(spec, numbers))
    return Edit(
        tokenizer=edited,
        kept=_kept(spec, staying, numbers),
        removed={old[entry]: entry for entry in sorted(gone, key=lambda entry: old[entry])},
        added=tuple(Added(entry, numbers[entry], tuple(tokenizer.encode(entry))) for entry in new),
        present=tuple(entry for entry in wanted if entry in old),
    )


def _check_model(spec: Spec) -> None:
    if spec.model != Longest():
        raise ArgumentError(
            f"only vocabularies of longest match can be edited, and this one is {described(spec.model)}: there "
            "entries depend on each other (a merge makes an entry of two others, scores are balanced over all), "
            "so that taking one away changes what others do; train a vocabulary anew instead"
        )


def _entries(spec: Spec) -> dict[bytes, int]:
    """The ids of all entries that come out of text."""
    vocab = spec.vocab
    rows = zip(vocab.pieces(), vocab.ids.tolist(), vocab.kinds.tolist(), strict=True)
    found: dict[bytes, int] = {}
    for piece, id, kind in rows:
        if kind == Kind.NORMAL:
            found.setdefault(piece, id)
    return found


def _removed(old: Mapping[bytes, int], remove: Iterable[Removal]) -> set[bytes]:
    if isinstance(remove, (str, bytes)):
        raise ArgumentError("give a list of what to remove")
    gone: set[bytes] = set()
    for removal in remove:
        if callable(removal):
            gone |= _selected([entry for entry in old if len(entry) > 1], removal)
            continue
        for entry in listed([removal]):
            if entry not in old:
                raise PieceError(f"{entry!r} is to be removed and is not an entry of the vocabulary")
            if len(entry) == 1:
                raise ArgumentError(f"{entry!r} cannot be removed: without all bytes there are texts with no tokens")
            gone.add(entry)
    return gone


def _selected(entries: Sequence[bytes], select: Selector) -> set[bytes]:
    return {entry for entry, is_meant in zip(entries, select(entries), strict=True) if is_meant}


def _reserved(spec: Spec) -> set[int]:
    """Ids that no entry may get: 0, which RWKV keeps for the end of a text, and those of special tokens."""
    special = {token.id for token in spec.special}
    special |= set(spec.vocab.ids[spec.vocab.kinds != Kind.NORMAL].tolist())
    return special | {0}


def _free(taken: set[int]) -> Iterator[int]:
    return (id for id in count() if id not in taken)


def _checked(numbers: dict[bytes, int]) -> dict[bytes, int]:
    last = max(numbers.values(), default=0)
    if last > _MOST_ID:
        raise ArgumentError(f"ids would go up to {last}, and they have 16 bits: remove {last - _MOST_ID} entries more")
    return numbers


def _reused(spec: Spec, staying: Mapping[bytes, int], new: Iterable[bytes]) -> dict[bytes, int]:
    free = _free(_reserved(spec) | set(staying.values()))
    return _checked({**staying, **{entry: next(free) for entry in new}})


def _compacted(spec: Spec, entries: Iterable[bytes]) -> dict[bytes, int]:
    free = _free(_reserved(spec))
    return _checked({entry: next(free) for entry in sorted(entries, key=_rwkv_order)})


def _rwkv_order(entry: bytes) -> tuple[int, bytes]:
    return len(entry), entry


def _rebuilt(spec: Spec, numbers: Mapping[bytes, int]) -> Spec:
    """The Spec with other entries: by length, as RWKV's reader of tables wants them, then what was no entry."""
    vocab = spec.vocab
    rows: list[tuple[bytes, int, float, int]]
    rows = [(entry, numbers[entry], 0.0, Kind.NORMAL) for entry in sorted(numbers, key=_rwkv_order)]
    others = zip(vocab.pieces(), vocab.ids.tolist(), vocab.scores.tolist(), vocab.kinds.tolist(), strict=True)
    rows += [row for row in others if row[3] != Kind.NORMAL]
    return replace(spec, vocab=Vocab.from_rows(rows), origin=replace(spec.origin, name=None))


def _kept(spec: Spec, staying: Mapping[bytes, int], numbers: Mapping[bytes, int]) -> dict[int, int]:
    special: dict[Any, int] = {id: id for id in _reserved(spec) if _is_id(spec, id)}
    return dict(sorted({**special, **{id: numbers[entry] for entry, id in staying.items()}}.items()))


def _is_id(spec: Spec, id: int) -> bool:
    return any(token.id == id for token in spec.special) or bool((spec.vocab.ids == id).any())
