"""The data that the stages of the pipeline pass to each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class RefToken(NamedTuple):
    """One token: its id, its piece, and the bytes ``[start, end)`` of the original text that it represents."""

    id: int
    piece: bytes
    start: int
    end: int


class Segment(NamedTuple):
    """The model's result for the bytes ``[start, end)`` of its input; the id is None if no entry covers them."""

    id: int | None
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Aligned:
    """A rewritten text: byte i came from offset ``origin[i]`` of the original, and ``origin[-1]`` is where it ended."""

    text: bytes
    origin: list[int]

    @classmethod
    def of(cls, text: bytes, start: int = 0) -> Aligned:
        """A text not rewritten yet, which starts at ``start`` of the original."""
        return cls(text, list(range(start, start + len(text) + 1)))

    def part(self, start: int, end: int) -> Aligned:
        """The bytes from start to end, which keep their origins."""
        return Aligned(self.text[start:end], self.origin[start : end + 1])
