"""Reports the texts that reading skips, and the damage of files that it skips."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

_MAX_EXAMPLES = 10


def too_long_reason(max_bytes: int) -> str:
    """Returns the reason for skipping a record that is longer than the limit. The engine uses the same words."""
    return f"longer than {max_bytes} bytes"


class SkippedText(NamedTuple):
    """A skipped text: the reason, the place of the text in a file, and details about this text."""

    reason: str
    place: str
    detail: str = ""

    def __str__(self) -> str:
        """Formats the report of a skipped text.

        >>> print(SkippedText("not JSON", "a.jsonl: byte 70", "expected `:`"))
        a.jsonl: byte 70: not JSON: expected `:`
        """
        return ": ".join(filter(None, (self.place, self.reason, self.detail)))


@dataclass(slots=True)
class SkippedTexts:
    """The number of skipped texts by reason, the places of the first, and descriptions of damaged files.

    >>> skipped = SkippedTexts()
    >>> skipped.add(SkippedText("no field 'text'", "a.jsonl:7"))
    >>> print(skipped)
    1 text was skipped
      no field 'text': 1, e.g. at a.jsonl:7
    >>> print(SkippedTexts(damage=["b.gz is truncated after byte 9"]))
    damaged file: b.gz is truncated after byte 9
    """

    skipped: dict[str, int] = field(default_factory=dict)
    """The number of skipped texts, by reason."""
    examples: list[tuple[str, str]] = field(default_factory=list)
    """Pairs of the place and the reason of the first skipped texts."""
    damage: list[str] = field(default_factory=list)
    """A description of each place where a file is damaged."""

    def add(self, text: SkippedText) -> None:
        """Adds a skipped text to the report."""
        self.skipped[text.reason] = self.skipped.get(text.reason, 0) + 1
        if len(self.examples) < _MAX_EXAMPLES:
            self.examples.append((text.place, text.reason))

    def __str__(self) -> str:
        """Returns the number of skipped texts and a line for each reason, and a line for each damage; empty if reading
        skipped nothing."""
        return "\n".join([*self._skipped_lines(), *(f"damaged file: {description}" for description in self.damage)])

    def _skipped_lines(self) -> list[str]:
        if not (total := sum(self.skipped.values())):
            return []
        lines = [f"{total} text{'s were' if total != 1 else ' was'} skipped"]
        for reason, count in self.skipped.items():
            place = next((place for place, example_reason in self.examples if example_reason == reason), None)
            lines.append(f"  {reason}: {count}" + (f", e.g. at {place}" if place else ""))
        return lines
