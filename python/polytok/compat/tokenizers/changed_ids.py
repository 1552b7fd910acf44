"""Added tokens whose ids the model uses for other entries, as after a second training or a change of the model.

The original keeps the ids of added tokens, so one id stands for both texts: encoding either returns this id, and
decoding it returns the added token. The engine gives these tokens ids of their own, which are converted here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from ...formats.huggingface import ModelColumns
from ...formats.huggingface.models import rows_of_texts
from ...records import replace
from ...spec import Spec
from .encoding import Columns
from .vocabulary import AddedTokens


class ChangedIds(NamedTuple):
    """The ids of the engine for those of the tokenizer, and the opposite.

    ``skipped`` has the ids of the model's entries whose texts were added as special tokens with other ids.
    """

    to_engine: Mapping[int, int]
    from_engine: Mapping[int, int]
    skipped: frozenset[int]

    def of_engine(self, ids: Iterable[int], skip_special_tokens: bool) -> list[int]:
        """Returns the ids that the engine decodes."""
        to_engine, skipped = self.to_engine, self.skipped if skip_special_tokens else ()
        unknown = self.from_engine  # the engine's own ids mean nothing to the caller, and unknown ids have no text
        return [to_engine.get(id, id) for id in ids if id not in skipped and id not in unknown]

    def restore(self, columns: Columns) -> Columns:
        """Changes the ids of an encoding to those of the tokenizer."""
        from_engine = self.from_engine
        columns.ids[:] = [from_engine.get(id, id) for id in columns.ids]
        for window in columns.overflowing:
            self.restore(window)
        return columns


class _Entries:
    """The entries of a model, of which only the requested ones become Python objects."""

    def __init__(self, columns: ModelColumns) -> None:
        self._vocab = columns.vocab
        self._ids = np.asarray(columns.vocab.ids)
        self.largest_id = int(self._ids.max(initial=0))

    def ids_of(self, texts: Iterable[str]) -> dict[str, int]:
        """Returns the ids of those of the texts that are entries."""
        return {text: int(self._ids[row]) for text, row in rows_of_texts(self._vocab, list(texts)).items()}

    def texts_of(self, ids: Iterable[int]) -> dict[int, str]:
        """Returns the texts of those of the ids that entries have."""
        rows = np.flatnonzero(np.isin(self._ids, list(ids)))
        texts = {int(self._ids[row]): self._vocab.piece(int(row)).decode() for row in rows}
        known_ids = self.ids_of(texts.values())
        return {id: text for id, text in texts.items() if known_ids[text] == id}  # the last of equal texts counts


def changed_ids(spec: Spec, added: AddedTokens, columns: ModelColumns) -> tuple[Spec, ChangedIds] | None:
    """Returns the Spec that the engine runs, and the ids; None if the ids of the Spec are those of the tokenizer.

    ``columns`` has the model's entries.
    """
    entries = _Entries(columns)
    texts = entries.texts_of(added.by_id)
    model_ids = entries.ids_of({*added.special, *(token.content for token in added.by_id.values())})
    shared = [
        id
        for id, token in added.by_id.items()
        if texts.get(id, token.content) != token.content or model_ids.get(token.content, id) != id
    ]
    listed = {token.content for token in added.by_id.values()}
    other_special = added.special - listed
    is_same = all(added.ids[token.text] == token.id for token in spec.special)
    if is_same and not shared and not any(text in model_ids for text in other_special):
        return None
    first_free = 1 + max(*added.by_id, entries.largest_id, *(token.id for token in spec.special), 0)
    to_engine = {id: free for free, id in enumerate(shared, first_free)}
    special = tuple(
        replace(token, id=to_engine.get(added.ids[token.text], added.ids[token.text])) for token in spec.special
    )
    skipped = {model_ids[text] for text in added.special if text in model_ids} - added.by_id.keys()
    from_engine = {free: id for id, free in to_engine.items()}
    return replace(spec, special=special), ChangedIds(to_engine, from_engine, frozenset(skipped))
