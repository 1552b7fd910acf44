"""The findings of the doctor."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

_MAX_EXAMPLES = 3


class Severity(IntEnum):
    """The severity of a finding: a note affects no text, a warning affects some texts, an error affects normal use of
    the file."""

    NOTE = 0
    WARNING = 1
    ERROR = 2


@dataclass(frozen=True, slots=True)
class Finding:
    """A fact about a tokenizer: the id of its kind, its severity, a message with the details, and advice.

    ``index`` is the index of the text, if the finding is about one of the texts that the caller gave.
    """

    id: str
    severity: Severity
    message: str
    advice: str
    index: int | None = None

    @property
    def is_wrong(self) -> bool:
        """True if the finding is a warning or an error."""
        return self.severity > Severity.NOTE


def format_examples(items: Iterable[Any]) -> str:
    """Returns the first few values, for a message.

    >>> format_examples(["a", "b", "c", "d"])
    "'a', 'b', 'c', ..."
    """
    values = list(items)
    return ", ".join(map(repr, values[:_MAX_EXAMPLES])) + (", ..." if len(values) > _MAX_EXAMPLES else "")
