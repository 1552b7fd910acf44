"""What stands around a text, and what the spans of its tokens leave out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Insert:
    """Ids of a template that stand in no text."""

    ids: tuple[int, ...]
    type_id: int = 0


@dataclass(frozen=True, slots=True)
class Slot:
    """The place of the first (0) or the second (1) text in a template."""

    text: Literal[0, 1] = 0
    type_id: int = 0


TemplatePart = Insert | Slot


@dataclass(frozen=True, slots=True)
class Template:
    """What stands around one text, and around a pair of texts, when special tokens are asked for
    (``add_special=True``). Without, only the slots count."""

    single: tuple[TemplatePart, ...] = (Slot(0),)
    pair: tuple[TemplatePart, ...] = (Slot(0), Slot(1, 1))

    @property
    def before(self) -> tuple[int, ...]:
        """The ids before a single text."""
        slot = self.single.index(Slot(0)) if Slot(0) in self.single else len(self.single)
        return tuple(id for part in self.single[:slot] if isinstance(part, Insert) for id in part.ids)

    @property
    def after(self) -> tuple[int, ...]:
        """The ids behind a single text."""
        slot = self.single.index(Slot(0)) if Slot(0) in self.single else len(self.single)
        return tuple(id for part in self.single[slot:] if isinstance(part, Insert) for id in part.ids)

    @classmethod
    def around(cls, before: tuple[int, ...] = (), after: tuple[int, ...] = ()) -> Template:
        """Ids before and behind one text; a pair gets them around each of its texts."""

        def side(number: Literal[0, 1]) -> tuple[TemplatePart, ...]:
            parts = (Insert(before, number), Slot(number, number), Insert(after, number))
            return tuple(part for part in parts if isinstance(part, Slot) or part.ids)

        return cls(side(0), side(0) + side(1))


@dataclass(frozen=True, slots=True)
class TrimOffsets:
    """Spans leave out the white space at the ends of tokens, but with ``add_prefix_space`` one space of the first."""

    add_prefix_space: bool = True
