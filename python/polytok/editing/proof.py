"""Compares a vocabulary before and after an edit on texts: `Proof`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ..errors import ArgumentError, PolytokError
from ..records import dataclass
from ..tokenizer import Tokenizer
from ..values import Text

if TYPE_CHECKING:
    from .result import Edit

_MAX_EXAMPLES = 10


@dataclass(frozen=True, slots=True)
class ChangedText:
    """A text with other tokens than before: its position, the text, the old pieces and the new ones."""

    index: int
    text: Text
    before: tuple[bytes, ...]
    after: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Proof:
    """What an edit changes in texts.

    * ``texts``: the number of texts. ``tokens_before``, ``tokens_after``: their tokens in both vocabularies.
      ``unknown_before``, ``unknown_after``: the unknown tokens among them.
    * ``changed``: the indices of the texts whose tokens are not those of before, apart from renumbering.
      ``renumbered``: the indices of the texts with the same tokens but other ids.
    * ``decoded_differently``: the indices of the texts that decode to something else than before, such as texts with
      characters that became unknown.
    * ``mapped_differently``: the indices of the texts whose old ids, changed by `Edit.map_ids`, decode to something
      else than before.
    * ``refused``: the indices of the texts that only one of the vocabularies can encode. They are not among the others.
    * ``examples``: the first changed texts.
    """

    texts: int
    tokens_before: int
    tokens_after: int
    unknown_before: int
    unknown_after: int
    changed: tuple[int, ...]
    renumbered: tuple[int, ...]
    decoded_differently: tuple[int, ...]
    mapped_differently: tuple[int, ...]
    refused: tuple[int, ...]
    examples: tuple[ChangedText, ...]

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        difference = self.tokens_after - self.tokens_before
        share = f" ({100 * difference / self.tokens_before:+.1f} %)" if self.tokens_before else ""
        changes = [f"{len(self.changed):,} {'has' if len(self.changed) == 1 else 'have'} other tokens"]
        if self.renumbered:
            changes.append(f"{len(self.renumbered):,} only other ids")
        noun = "text" if self.texts == 1 else "texts"
        counts = f"{self.tokens_before:,} tokens before, {self.tokens_after:,} after{share}"
        yield f"{self.texts:,} {noun}: {', '.join(changes)}; {counts}"
        if self.unknown_before or self.unknown_after:
            yield f"{self.unknown_before:,} unknown tokens before, {self.unknown_after:,} after"
        if not self.decoded_differently and not self.mapped_differently:
            yield "all texts decode as before, and so do the old ids by the id map"
        if self.decoded_differently:
            indices = self.decoded_differently
            yield f"{len(indices):,} decode to other texts than before: {_first(indices)}"
        if self.mapped_differently:
            indices = self.mapped_differently
            yield f"{len(indices):,} decode to other texts by the id map: {_first(indices)}"
        if self.refused:
            yield f"{len(self.refused):,} can be encoded by only one of the vocabularies: {_first(self.refused)}"


def _first(indices: Sequence[int]) -> str:
    """Returns the numbers of the first texts, counted from 1."""
    shown = ", ".join(str(index + 1) for index in indices[:5])
    return f"text {shown}" + (" and others" if len(indices) > 5 else "")


def prove(edit: Edit, texts: Iterable[Text]) -> Proof:
    """Compares the vocabularies of an edit on texts."""
    if edit.source is None:
        raise ArgumentError("the edit does not have its old vocabulary: use a result of polytok.edit")
    comparison = _Comparison(edit, edit.source)
    for text in texts:
        comparison.add(text)
    return comparison.proof()


class _Comparison:
    """Collects what differs, text by text."""

    def __init__(self, edit: Edit, source: Tokenizer) -> None:
        self._edit, self._old, self._new = edit, source, edit.tokenizer
        self._count = self._tokens_before = self._tokens_after = 0
        self._unknown_before = self._unknown_after = 0
        self._changed: list[int] = []
        self._renumbered: list[int] = []
        self._decoded: list[int] = []
        self._mapped: list[int] = []
        self._refused: list[int] = []
        self._examples: list[ChangedText] = []

    def add(self, text: Text) -> None:
        index, self._count = self._count, self._count + 1
        old_ids, new_ids = _ids(self._old, text), _ids(self._new, text)
        if old_ids is None or new_ids is None:
            if old_ids is not new_ids:
                self._refused.append(index)
            return
        self._tokens_before += len(old_ids)
        self._tokens_after += len(new_ids)
        self._unknown_before += _count(old_ids, self._old.unk_id)
        self._unknown_after += _count(new_ids, self._new.unk_id)
        if [self._edit.kept.get(id) for id in old_ids] != new_ids:
            self._changed.append(index)
            if len(self._examples) < _MAX_EXAMPLES:
                pieces = [tuple(self._old.ids_to_pieces(old_ids)), tuple(self._new.ids_to_pieces(new_ids))]
                self._examples.append(ChangedText(index, text, *pieces))
        elif old_ids != new_ids:
            self._renumbered.append(index)
        old_text = self._old.decode_bytes(old_ids)
        if self._new.decode_bytes(new_ids) != old_text:
            self._decoded.append(index)
        if self._mapped_text(old_ids) != old_text:
            self._mapped.append(index)

    def _mapped_text(self, old_ids: Sequence[int]) -> bytes | None:
        try:
            return self._new.decode_bytes(self._edit.map_ids(old_ids))
        except PolytokError:
            return None

    def proof(self) -> Proof:
        return Proof(
            self._count,
            self._tokens_before,
            self._tokens_after,
            self._unknown_before,
            self._unknown_after,
            tuple(self._changed),
            tuple(self._renumbered),
            tuple(self._decoded),
            tuple(self._mapped),
            tuple(self._refused),
            tuple(self._examples),
        )


def _ids(tokenizer: Tokenizer, text: Text) -> list[int] | None:
    """Returns the ids of a text; None if the vocabulary cannot encode it."""
    try:
        return tokenizer.encode(text)
    except PolytokError:
        return None


def _count(ids: Sequence[int], id: int | None) -> int:
    return 0 if id is None else ids.count(id)
