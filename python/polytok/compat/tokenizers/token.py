"""`Token` of tokenizers 0.23."""

from __future__ import annotations


class Token:
    """A token of a model, with its bytes in the piece: tokenizers.Token."""

    __slots__ = ("id", "offsets", "value")

    def __init__(self, id: int, value: str, offsets: tuple[int, int]) -> None:
        self.id = id
        self.value = value
        self.offsets = offsets

    def as_tuple(self) -> tuple[int, str, tuple[int, int]]:
        """Returns the token as a tuple."""
        return self.id, self.value, self.offsets
