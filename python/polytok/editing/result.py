"""The result of an edit: the edited vocabulary, and where each id went."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..checked import checked
from ..checks import iterable, shown
from ..errors import ArgumentError, TokenIdError
from ..reach import Usage
from ..records import dataclass, field
from ..tokenizer import Tokenizer
from ..values import Text

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from .proof import Proof


@dataclass(frozen=True, slots=True)
class Added:
    """A new entry, its id, and the ids that the old vocabulary encodes the entry to.

    No ids are stored if the old vocabulary cannot encode the entry, and for a special token.
    """

    piece: bytes
    id: int
    was: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Edit:
    """An edited vocabulary and the changes of its ids.

    * ``tokenizer``: the edited vocabulary; ``source``: the vocabulary before the edit.
    * ``kept``: the new id of each old id that stays, special tokens too. ``removed``: the entries of the other old ids.
    * ``replaced``: for each removed id, the new ids of its text; no ids if the vocabulary cannot encode it.
    * ``added``: the new entries and special tokens. ``present``: entries to add that the vocabulary already had.
    * ``intermediates``: those of the new entries that only exist because merges need them.
    * ``needed``: selected entries that stay, because merges of other entries that stay need them.
    * ``special_tokens``: the new special tokens, with their ids.
    * ``reserved``: ids without a text, which fill gaps or pad the vocabulary.
    * ``usage``: how many of the entries to add are one token at the start of a text, after a letter, after a space and
      after a line feed. The others are not used there, because other tokens are taken.
    """

    tokenizer: Tokenizer
    kept: Mapping[int, int]
    removed: Mapping[int, bytes]
    added: tuple[Added, ...]
    present: tuple[bytes, ...]
    usage: tuple[Usage, ...] = ()
    source: Tokenizer | None = None
    replaced: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    intermediates: tuple[bytes, ...] = ()
    needed: tuple[bytes, ...] = ()
    special_tokens: Mapping[str, int] = field(default_factory=dict)
    reserved: tuple[int, ...] = ()

    @property
    def summary(self) -> str:
        """A line with the numbers of entries removed and added, and of changed ids."""
        moved_count = sum(old_id != new_id for old_id, new_id in self.kept.items())
        noun = "entry" if len(self.removed) == 1 else "entries"
        ids = "id" if moved_count == 1 else "ids"
        added_text = f"{len(self.added):,} added"
        if self.intermediates:
            added_text += f" ({len(self.intermediates):,} of them only because merges need them)"
        parts = [f"{len(self.removed):,} {noun} removed", added_text, f"{moved_count:,} {ids} changed"]
        if self.present:
            parts.append(f"{len(self.present):,} to add {'were' if len(self.present) > 1 else 'was'} already present")
        if self.needed:
            verb = "stay" if len(self.needed) > 1 else "stays"
            parts.append(f"{len(self.needed):,} selected {verb}, needed by merges")
        if self.reserved:
            parts.append(f"{len(self.reserved):,} reserved")
        return f"{', '.join(parts)}: ids up to {self.tokenizer.vocab_size - 1}"

    def map_ids(self, ids: Iterable[int]) -> list[int]:
        """Returns the new ids of a text from its old ids. A removed id becomes the new ids of its text.

        The result decodes to the same text. It can differ from encoding the text again, which uses new entries. Raises
        `TokenIdError` for an id that the old vocabulary did not have, and for a removed id whose text cannot be
        encoded.

        >>> import polytok
        >>> old = polytok.train(["to be or not to be"], kind="longest-match", vocab_size=259, min_count=2)
        >>> result = polytok.edit(old, remove=[" be"])
        >>> result.map_ids(old.encode("to be")) == result.tokenizer.encode("to be")
        True
        """
        if isinstance(ids, (str, bytes)):
            raise TypeError(f"ids={shown(ids)} is not a list of ids")
        new_ids: list[int] = []
        for id in iterable("ids", ids, "ids"):
            if id in self.kept:
                new_ids.append(self.kept[id])
            elif self.replaced.get(id):
                new_ids += self.replaced[id]
            else:
                reason = "was removed, and its text cannot be encoded" if id in self.removed else "was not in use"
                raise TokenIdError(f"id {shown(id)} {reason}")
        return new_ids

    def resize_rows(self, matrix: Any) -> npt.NDArray[Any]:
        """Returns a matrix with a row for each new id from one with a row for each old id, such as embeddings.

        Rows of ids that stay are copied. The row of a new entry is the mean of the old rows of its text (``was``). All
        other new rows, which are those of special tokens and reserved ids, are the mean of all rows that stay.
        ``matrix`` has shape (old ids, ...), and can have more rows; the result has shape (`Tokenizer.vocab_size`, ...)
        and the same dtype. Means are computed in float64. Raises `ArgumentError` if the matrix has too few rows.

        >>> import numpy as np, polytok
        >>> old = polytok.train(["to be or not to be"], kind="longest-match", vocab_size=259, min_count=2)
        >>> result = polytok.edit(old, add=["to be"])
        >>> rows = result.resize_rows(np.arange(old.vocab_size * 2.0).reshape(-1, 2))
        >>> rows.shape, result.added[0].was, rows[result.added[0].id].tolist()
        ((260, 2), (257, 258), [515.0, 516.0])
        """
        import numpy as np

        old_rows: npt.NDArray[Any] = np.asarray(matrix)
        old_ids = np.fromiter(self.kept, dtype=np.int64, count=len(self.kept))
        if not old_rows.ndim or len(old_rows) <= old_ids.max(initial=-1):
            raise ArgumentError(
                f"the matrix has shape {old_rows.shape}, but the old vocabulary has ids up to {old_ids.max(initial=-1)}"
            )
        new_rows = np.empty((self.tokenizer.vocab_size, *old_rows.shape[1:]), dtype=old_rows.dtype)
        new_rows[:] = old_rows[old_ids].mean(axis=0, dtype=np.float64)
        new_rows[list(self.kept.values())] = old_rows[old_ids]
        for entry in self.added:
            if entry.was:
                new_rows[entry.id] = old_rows[list(entry.was)].mean(axis=0, dtype=np.float64)
        return new_rows

    def id_arrays(self) -> dict[str, npt.NDArray[np.int64]]:
        """Returns the changes of ids as arrays of int64, for files in the format ``.npz``.

        * ``new_ids``: the new id of each old id, or -1.
        * ``added``: the ids of the new entries. The old ids of entry i are ``was[was_offsets[i]:was_offsets[i + 1]]``.
        * ``removed``: the old ids that were removed. The new ids of the text of the entry i are
          ``replaced[replaced_offsets[i]:replaced_offsets[i + 1]]``.
        * ``reserved``: the reserved ids. ``size``: the number of new ids.
        """
        import numpy as np

        new_ids = np.full(1 + max((*self.kept, *self.removed), default=-1), -1, dtype=np.int64)
        new_ids[list(self.kept)] = list(self.kept.values())
        was_offsets, was = _flattened([entry.was for entry in self.added])
        replaced_offsets, replaced = _flattened([self.replaced.get(id, ()) for id in self.removed])
        return {
            "new_ids": new_ids,
            "added": np.array([entry.id for entry in self.added], dtype=np.int64),
            "was_offsets": was_offsets,
            "was": was,
            "removed": np.array(list(self.removed), dtype=np.int64),
            "replaced_offsets": replaced_offsets,
            "replaced": replaced,
            "reserved": np.array(self.reserved, dtype=np.int64),
            "size": np.array(self.tokenizer.vocab_size, dtype=np.int64),
        }

    @checked(texts=lambda name, value: iterable(name, value, "texts"))
    def prove(self, texts: Iterable[Text]) -> Proof:
        """Compares the old and the new vocabulary on texts: which texts have other ids, and how many tokens.

        >>> import polytok
        >>> old = polytok.train(["to be or not to be"], kind="longest-match", vocab_size=259, min_count=2)
        >>> print(polytok.edit(old, add=["to be"]).prove(["to be", "or not"]))
        2 texts: 1 has other tokens; 8 tokens before, 7 after (-12.5 %)
        all texts decode as before, and so do the old ids by the id map
        """
        from .proof import prove

        return prove(self, texts)


def _flattened(rows: list[tuple[int, ...]]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Returns rows of ids as offsets and one array."""
    import numpy as np

    offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return offsets, np.array([id for row in rows for id in row], dtype=np.int64)
