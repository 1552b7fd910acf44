"""The findings of the doctor."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any


class Severity(IntEnum):
    """A note is worth knowing; a warning affects some texts; an error affects the normal use of the file."""

    NOTE = 0
    WARNING = 1
    ERROR = 2


@dataclass(frozen=True, slots=True)
class Finding:
    """A fact about a tokenizer: its kind, its severity, the details, and what to do."""

    id: str
    severity: Severity
    message: str
    advice: str

    @property
    def is_wrong(self) -> bool:
        """Whether it is more than a note."""
        return self.severity > Severity.NOTE


def examples(items: Iterable[Any], most: int = 3) -> str:
    """The first few values, for a message.

    >>> examples(["a", "b", "c", "d"])
    "'a', 'b', 'c', ..."
    """
    listed = list(items)
    return ", ".join(map(repr, listed[:most])) + (", ..." if len(listed) > most else "")


def shown(piece: bytes) -> str | bytes:
    """A piece as text, if it is valid text."""
    try:
        return piece.decode()
    except UnicodeDecodeError:
        return piece
