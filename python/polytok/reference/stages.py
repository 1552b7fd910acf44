"""The data that the stages of the pipeline pass to each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


class RefToken(NamedTuple):
    """One token: its id, its piece, and its span ``[start, end)`` in the bytes of the original text."""

    id: int
    piece: bytes
    start: int
    end: int


class Segment(NamedTuple):
    """A part ``[start, end)`` of the model's input, with the id of the entry that covers it (None: no entry does)."""

    id: int | None
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Aligned:
    """A rewritten text with the origin of each byte.

    Byte i comes from offset ``origin[i]`` of the original text; ``origin[-1]`` is the end of the rewritten part. A
    segment ends where the next byte begins; ``ends`` has the exceptions, which end before text that a split drops.
    """

    text: bytes
    origin: list[int]
    ends: Mapping[int, int] = field(default_factory=dict)

    @classmethod
    def from_text(cls, text: bytes) -> Aligned:
        """Returns a text that is not rewritten yet."""
        return cls(text, list(range(len(text) + 1)))

    def part(self, start: int, end: int) -> Aligned:
        """Returns the bytes from start to end with their origins."""
        return Aligned(self.text[start:end], self.origin[start : end + 1])

    def end(self, at: int) -> int:
        """Returns the offset of the original text at which a segment ends whose last byte is that before ``at``."""
        return self.ends.get(at, self.origin[at])
