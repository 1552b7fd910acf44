"""Added tokens whose ids the model uses for other entries, as after a second training or a change of the model.

The original keeps the ids of added tokens, so one id stands for both texts: encoding either returns this id, and
decoding it returns the added token. The engine gives these tokens ids of their own, which are converted here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

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


def changed_ids(spec: Spec, added: AddedTokens, model_ids: Mapping[str, int]) -> tuple[Spec, ChangedIds] | None:
    """Returns the Spec that the engine runs, and the ids; None if the ids of the Spec are those of the tokenizer."""
    texts = {id: text for text, id in model_ids.items()}
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
    first_free = 1 + max(*added.by_id, *texts, *(token.id for token in spec.special), 0)
    to_engine = {id: free for free, id in enumerate(shared, first_free)}
    special = tuple(
        replace(token, id=to_engine.get(added.ids[token.text], added.ids[token.text])) for token in spec.special
    )
    skipped = {model_ids[text] for text in added.special if text in model_ids} - added.by_id.keys()
    from_engine = {free: id for id, free in to_engine.items()}
    return replace(spec, special=special), ChangedIds(to_engine, from_engine, frozenset(skipped))
