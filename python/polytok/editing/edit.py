"""Removes and adds entries; maps the ids that stay, and spells new entries in old ids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress, count
from typing import Literal, TypeAlias

from ..conversion.gguf import NEVER_IN_TEXT, with_every_id
from ..errors import ArgumentError, PieceError
from ..lists import Entry, listed
from ..spec import Kind, LlamaCppDecode, Longest, Spec, Vocab, described
from ..tokenizer import Tokenizer
from .select import Selector

IdPlan = Literal["reuse", "compact"]
Removal: TypeAlias = "Entry | Selector"
"""An entry, a path of a file with an entry on each line, or a function that decides which entries to remove."""

_MOST_ID = 65_535
_LONGEST = 65_535


@dataclass(frozen=True, slots=True)
class Added:
    """A new entry, its id, and the ids of the old vocabulary that spelled it."""

    piece: bytes
    id: int
    was: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Edit:
    """An edited vocabulary, and what happened to every id.

    ``kept`` maps the old id of every remaining entry and special token to its new id; ``removed`` has the removed
    entries by their old ids; ``present`` lists entries to add that were already present. To carry over an embedding,
    copy the rows of ``kept``, and initialize the row of an added entry with the mean of the rows of its ``was``.
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
            parts.append(f"{len(self.present)} to add {'were' if len(self.present) > 1 else 'was'} there")
        return f"{', '.join(parts)}: ids up to {self.tokenizer.vocab_size - 1}"


def edit(
    tokenizer: Tokenizer,
    *,
    remove: Iterable[Removal] = (),
    add: Entry | Iterable[Entry] = (),
    ids: IdPlan = "reuse",
) -> Edit:
    """Remove entries from a vocabulary of longest match and add others.

    ``remove`` are entries (texts or bytes), paths of files with an entry on each line, and selectors such as those of
    `polytok.editing`: ``ENGLISH``, ``CODE``, ``script("Latin")``, ``matching(r"^[0-9]+$")``. Selectors never remove
    single bytes. ``add`` are entries and such paths; an entry that is both removed and added stays.

    With ``ids="reuse"`` every remaining entry keeps its id, and added ones get the lowest free ids: those that were
    removed or never used. With ``"compact"`` all entries are renumbered as in RWKV World, by length and bytes from 1
    on; special tokens keep their ids.

    Raises `ArgumentError` for any model except longest match, for the removal of a single byte, without which some
    texts could not be encoded, and if ids would exceed 65,535; `PieceError` if an entry to remove is missing.

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
    rows = _Rows(spec)
    old, special = rows.entries, _special_ids(spec, rows)
    wanted = listed(add)
    if wanted and len(wanted[-1]) > _LONGEST:
        raise ArgumentError(f"an entry to add has {len(wanted[-1])} bytes; at most {_LONGEST} can be")
    gone = _removed(old, remove) - set(wanted)
    new = [entry for entry in wanted if entry not in old]
    staying = {entry: id for entry, id in old.items() if entry not in gone}
    numbers = _numbers(special, staying, new, ids)
    kept = {id: id for id in special} | {id: numbers[entry] for entry, id in staying.items()}
    origin = replace(spec.origin, name=None)
    return Edit(
        tokenizer=Tokenizer(replace(spec, vocab=rows.vocab(numbers), origin=origin)),
        kept=dict(sorted(kept.items())),
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


class _Rows:
    """The rows of a vocabulary: the entries with their ids, and the other rows, which stay unchanged."""

    def __init__(self, spec: Spec) -> None:
        self.entries: dict[bytes, int] = {}
        self.others: list[tuple[bytes, int, float, int]] = []
        self.is_gguf = isinstance(spec.decode, LlamaCppDecode)
        vocab = spec.vocab
        for row in zip(vocab.pieces(), vocab.ids.tolist(), vocab.scores.tolist(), vocab.kinds.tolist(), strict=True):
            piece, id, _, kind = row
            if kind != Kind.NORMAL or (self._is_reserved(piece) and not self._is_free(piece, id)):
                self.others.append(row)
            elif not self._is_free(piece, id):
                self.entries.setdefault(piece, id)

    def _is_reserved(self, piece: bytes) -> bool:
        return self.is_gguf and len(piece) > 1 and piece.startswith(NEVER_IN_TEXT)

    def _is_free(self, piece: bytes, id: int) -> bool:
        """Whether it is only a filler for an id, which a GGUF file needs."""
        return self.is_gguf and piece == NEVER_IN_TEXT + b"[PAD%d]" % id

    def vocab(self, numbers: Mapping[bytes, int]) -> Vocab:
        """Replace the entries, ordered by length as RWKV's table reader requires, or by id as in GGUF."""
        rows = [(entry, numbers[entry], 0.0, Kind.NORMAL) for entry in sorted(numbers, key=_rwkv_order)]
        vocab = Vocab.from_rows([*rows, *self.others])
        return with_every_id(vocab, {}) if self.is_gguf else vocab


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
    answers = select(entries)
    if len(answers) != len(entries):
        raise ArgumentError(f"a selector gave {len(answers)} answers for {len(entries)} entries, and not as many")
    return set(compress(entries, answers))


def _special_ids(spec: Spec, rows: _Rows) -> set[int]:
    return {token.id for token in spec.special} | {row[1] for row in rows.others}


def _free(taken: set[int]) -> Iterator[int]:
    return (id for id in count() if id not in taken)


def _checked(numbers: dict[bytes, int]) -> dict[bytes, int]:
    last = max(numbers.values(), default=0)
    if last > _MOST_ID:
        raise ArgumentError(f"ids would go up to {last}, and they have 16 bits: remove {last - _MOST_ID} entries more")
    return numbers


def _numbers(taken: set[int], staying: Mapping[bytes, int], new: Iterable[bytes], ids: IdPlan) -> dict[bytes, int]:
    """The ids of all entries; id 0 is always reserved for the end of a text."""
    if ids == "compact":
        free = _free(taken | {0})
        return _checked({entry: next(free) for entry in sorted([*staying, *new], key=_rwkv_order)})
    free = _free(taken | {0} | set(staying.values()))
    return _checked({**staying, **{entry: next(free) for entry in new}})


def _rwkv_order(entry: bytes) -> tuple[int, bytes]:
    return len(entry), entry
