"""The added tokens of a tokenizer, with their ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .added_token import AddedToken


class AddedTokens:
    """The added tokens by id, and the ids of all texts that were ever added: a later token can have taken the id.

    ``special`` has the texts that were ever added as special.
    """

    __slots__ = ("by_id", "ids", "special")

    def __init__(self) -> None:
        self.by_id: dict[int, AddedToken] = {}
        self.ids: dict[str, int] = {}
        self.special: set[str] = set()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AddedTokens) and all(
            getattr(self, name) == getattr(other, name) for name in self.__slots__
        )

    __hash__ = None  # type: ignore[assignment]  # it can be changed

    def set(self, id: int, token: AddedToken) -> None:
        """Adds a token with an id."""
        self.by_id[id] = token
        self.ids[token.content] = id
        if token.special:
            self.special.add(token.content)

    def ignores(self, token: AddedToken) -> bool:
        """Reports whether adding a token changes nothing."""
        old_id = self.ids.get(token.content)
        return not token.content or (old_id is not None and self.by_id[old_id] == token)

    def add(self, tokens: Iterable[AddedToken], model_id: Callable[[str], int | None], model_size: int) -> int:
        """Adds tokens, and returns how many were new or different."""
        count = 0
        next_id = max(model_size, *(known + 1 for known in self.by_id), 0)
        for token in tokens:
            if self.ignores(token):
                continue
            old_id = self.ids.get(token.content)
            id = model_id(token.content) if old_id is None else old_id
            if id is None:
                id, next_id = next_id, next_id + 1
            self.set(id, token)
            count += 1
        return count

    def plain_texts(self) -> frozenset[str]:
        """Returns the texts of the tokens that are not special."""
        return frozenset(token.content for token in self.by_id.values()) - self.special

    def json(self) -> list[dict[str, Any]]:
        """Returns the member ``added_tokens`` of tokenizer.json."""
        return [{"id": id, **self.by_id[id].__getstate__()} for id in sorted(self.by_id)]

    def engine_json(self) -> list[dict[str, Any]]:
        """Returns the JSON for the engine: a token that was ever special is so still, as in the original."""
        return [{**token, "special": token["content"] in self.special} for token in self.json()]

    def copy(self) -> AddedTokens:
        """Returns an independent copy."""
        copy = AddedTokens()
        copy.by_id, copy.ids, copy.special = dict(self.by_id), dict(self.ids), set(self.special)
        return copy
