"""The template, which adds ids around texts, and the trimming of white space from the spans of tokens."""

from __future__ import annotations

from typing import Any, Literal

from ..errors import SpecError
from ..records import dataclass

_ID_RANGE = range(2**32)


@dataclass(frozen=True, slots=True)
class Insert:
    """Ids that a template adds before or after a text, with the type id of the added tokens."""

    ids: tuple[int, ...]
    type_id: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.ids, tuple | list) or not all(map(_is_id, (*self.ids, self.type_id))):
            raise SpecError(f"post: {self!r} needs ids and a type_id from 0 to 4294967295")


@dataclass(frozen=True, slots=True)
class Slot:
    """The position of a text in a template (0: the first text, 1: the second), with the type id of its tokens."""

    text: Literal[0, 1] = 0
    type_id: int = 0

    def __post_init__(self) -> None:
        if not _is_id(self.text) or self.text > 1 or not _is_id(self.type_id):
            raise SpecError(f"post: {self!r} needs the text 0 or 1 and a type_id from 0 to 4294967295")


def _is_id(value: Any) -> bool:
    return isinstance(value, int) and value in _ID_RANGE


TemplatePart = Insert | Slot


@dataclass(frozen=True, slots=True)
class Template:
    """The ids around one text (``single``), and around two texts (``pair``).

    The ids are added only if the caller sets ``add_special``; the order and the type ids of the slots always apply.
    """

    single: tuple[TemplatePart, ...] = (Slot(0),)
    pair: tuple[TemplatePart, ...] = (Slot(0), Slot(1, 1))

    def __post_init__(self) -> None:
        for parts in (self.single, self.pair):
            if not isinstance(parts, tuple | list) or not all(isinstance(part, TemplatePart) for part in parts):
                raise SpecError(f"post: a template is a tuple of Insert and Slot, not {parts!r:.200}")

    @property
    def before(self) -> tuple[int, ...]:
        """The ids that are added before a single text."""
        slot_index = self.single.index(Slot(0)) if Slot(0) in self.single else len(self.single)
        return tuple(id for part in self.single[:slot_index] if isinstance(part, Insert) for id in part.ids)

    @property
    def after(self) -> tuple[int, ...]:
        """The ids that are added after a single text."""
        slot_index = self.single.index(Slot(0)) if Slot(0) in self.single else len(self.single)
        return tuple(id for part in self.single[slot_index:] if isinstance(part, Insert) for id in part.ids)

    @classmethod
    def around(cls, before: tuple[int, ...] = (), after: tuple[int, ...] = ()) -> Template:
        """Returns a template that adds these ids before and after a single text, and around both texts of a pair."""

        def around_slot(text_index: Literal[0, 1]) -> tuple[TemplatePart, ...]:
            parts = (Insert(before, text_index), Slot(text_index, text_index), Insert(after, text_index))
            return tuple(part for part in parts if isinstance(part, Slot) or part.ids)

        return cls(around_slot(0), around_slot(0) + around_slot(1))


@dataclass(frozen=True, slots=True)
class TrimOffsets:
    """Excludes white space at both ends of a token from the span of the token.

    With ``add_prefix_space``, one space at the start of the first token stays in its span.
    """

    add_prefix_space: bool = True
