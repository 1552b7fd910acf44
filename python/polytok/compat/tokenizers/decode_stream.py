"""`DecodeStream` of tokenizers 0.23."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from . import tokenizer as face
from .arguments import boolean, id_list, id_number

_REPLACEMENT = "\ufffd"


class DecodeStream:
    """Decodes ids as they arrive: tokenizers.decoders.DecodeStream.

    A step decodes the ids since the last returned text, and returns what is new, unless it ends inside a character.
    """

    __slots__ = ("_ids", "_prefix", "_prefix_ids", "_skip_special_tokens")

    def __init__(self, ids: Iterable[int] | None = None, skip_special_tokens: bool | None = False) -> None:
        self._skip_special_tokens = skip_special_tokens is not None and boolean(skip_special_tokens)
        self._ids = [] if ids is None else id_list(ids)
        self._prefix = ""
        self._prefix_ids = 0

    def step(self, tokenizer: face.Tokenizer, id: int | Iterable[int]) -> str | None:
        if not isinstance(tokenizer, face.Tokenizer):
            raise TypeError(f"'{type(tokenizer).__name__}' object is not an instance of 'Tokenizer'")
        new_ids = _ids_of_step(id)
        skips = self._skip_special_tokens
        if not self._prefix and self._ids:
            prefix = tokenizer.decode(self._ids, skips)
            if not prefix.endswith(_REPLACEMENT):
                self._prefix, self._prefix_ids = prefix, len(self._ids)
        self._ids += new_ids
        text = tokenizer.decode(self._ids, skips)
        prefix = self._prefix
        if len(text.encode()) <= len(prefix.encode()) or text.endswith(_REPLACEMENT):
            return None
        if not text.startswith(prefix):
            last = new_ids[-1] if new_ids else 0
            raise Exception(  # the original raises the same
                "Invalid prefix encountered while decoding stream. "
                f"Token ID: {last}, Expected prefix: '{prefix}', Actual string: '{text}'"
            )
        prefix_ids = len(self._ids) - self._prefix_ids
        self._ids = self._ids[self._prefix_ids :]
        self._prefix, self._prefix_ids = tokenizer.decode(self._ids, skips), prefix_ids
        return text[len(prefix) :]

    def __copy__(self) -> DecodeStream:
        copy = DecodeStream(self._ids, self._skip_special_tokens)
        copy._prefix, copy._prefix_ids = self._prefix, self._prefix_ids
        return copy

    def __deepcopy__(self, memo: dict[int, Any]) -> DecodeStream:
        return self.__copy__()

    def __reduce__(self) -> str:
        raise TypeError("cannot pickle 'tokenizers.decoders.DecodeStream' object")


def _ids_of_step(id: int | Iterable[int]) -> list[int]:
    """Returns the ids of a step, which are one or several."""
    try:
        return [id_number(id)] if hasattr(id, "__index__") else id_list(id)
    except (TypeError, OverflowError):
        raise TypeError("StreamInput must be either an integer or a list of integers") from None
