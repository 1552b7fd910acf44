"""What the doctor finds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any


class Severity(IntEnum):
    """A note is worth knowing; a warning is wrong for some texts; an error is wrong for what the file is for."""

    NOTE = 0
    WARNING = 1
    ERROR = 2


@dataclass(frozen=True, slots=True)
class Finding:
    """Something about a tokenizer: which kind of thing, how bad, what exactly, and what to do."""

    id: str
    severity: Severity
    message: str
    advice: str

    @property
    def is_wrong(self) -> bool:
        """More than a note."""
        return self.severity > Severity.NOTE


def examples(items: Iterable[Any], most: int = 3) -> str:
    """The first few, for a message.

    >>> examples(["a", "b", "c", "d"])
    "'a', 'b', 'c', ..."
    """
    listed = list(items)
    return ", ".join(map(repr, listed[:most])) + (", ..." if len(listed) > most else "")


def shown(piece: bytes) -> str | bytes:
    """A piece as text if it is one."""
    try:
        return piece.decode()
    except UnicodeDecodeError:
        return piece
