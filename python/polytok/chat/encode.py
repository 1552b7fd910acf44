"""Encodes a rendered conversation: ids, the message of each token, and the mask of what the model writes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from ..errors import SpecialTokenError
from ..keywords import keyword
from ..parts import Parts
from ..records import dataclass
from ..values import Spans
from .origin import TEMPLATE, Run, Text, runs_of

if TYPE_CHECKING:
    import numpy.typing as npt

SpecialInMessages: TypeAlias = Literal["text", "error", "allow"]
SPECIAL_IN_MESSAGES = ("text", "error", "allow")


@dataclass(frozen=True, eq=False)
class ChatEncoding:
    """An encoded conversation. All arrays have the shape (tokens,).

    * ``ids``: the ids, as a list.
    * ``message_ids``: for each token, the index of the message that its first character comes from; -1 for the
      template's own text, and -2 for tools, documents and variables, and for text that the template computed. int64.
    * ``assistant_mask``: True for each token with text in a block ``{% generation %}`` of the template; all False if
      the template has no such block. bool.
    * ``parts``: the text, trusted where the template wrote it.
    * ``origins``: for each part, the message that it comes from, -1 or -2, as in ``message_ids``; a tuple.
    * ``spans``: the spans of the tokens in ``parts.text``.
    """

    ids: list[int]
    parts: Parts
    spans: Spans
    _runs: tuple[Run, ...]

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def origins(self) -> tuple[int, ...]:
        return tuple(run.origin for run in self._runs)

    # The arrays are created when they are read: for a short conversation, this takes longer than encoding it.

    @cached_property
    def message_ids(self) -> npt.NDArray[np.int64]:
        # A token of no text, whose part is -1, belongs to the template.
        message_ids: npt.NDArray[np.int64] = np.array([*self.origins, TEMPLATE], np.int64)[self.parts.index(self.spans)]
        return message_ids

    @cached_property
    def assistant_mask(self) -> npt.NDArray[np.bool_]:
        runs, spans = self._runs, self.spans
        if not any(run.generated for run in runs):
            return np.zeros(len(self), np.bool_)
        flags = np.repeat([run.generated for run in runs], [run.length for run in runs])
        generated_before = np.concatenate(([0], np.cumsum(flags)))
        mask: Any = generated_before[spans.ends] > generated_before[spans.starts]
        return np.asarray(mask, np.bool_)


def parts_of(text: Text) -> Parts:
    """Returns a text with a part for each run; the text of the template is trusted."""
    pairs: list[tuple[str, bool]] = []
    start = 0
    for run in runs_of(text):
        pairs.append((str.__getitem__(text, slice(start, start + run.length)), run.origin == TEMPLATE))
        start += run.length
    return Parts._of_pairs(tuple(pairs))


def encode(text: Text, spans_of: Callable[..., Spans], special_in_messages: SpecialInMessages) -> ChatEncoding:
    """Encodes a rendered conversation. ``spans_of`` is `Tokenizer.spans`."""
    parts = parts_of(text)
    if special_in_messages == "allow":
        spans = spans_of(parts.text, special="all")
    elif special_in_messages == "error":
        spans = _strict_spans(parts, spans_of)
    else:
        spans = spans_of(parts)
    return ChatEncoding(spans.ids.tolist(), parts, spans, runs_of(text))


def _strict_spans(parts: Parts, spans_of: Callable[..., Spans]) -> Spans:
    try:
        return spans_of(parts, reject_special=True)
    except SpecialTokenError as error:  # its advice is for texts, so it gets that for conversations
        reason = str(error).partition("; remove")[0]
        advice = f"{keyword('special_in_messages', 'text')} encodes it as plain text"
        raise SpecialTokenError(f"{reason}; {advice}") from error
