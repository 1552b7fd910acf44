"""Reports a file that ``polytok train`` writes: what the file keeps first, then what it lacks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ..convert import Conversion
from ..pattern_advice import better_pattern, changes_texts, script_names, splits_differ
from ..tokenizer import Tokenizer
from .convert import decoding_lines, report_as_json
from .divergences import describe_divergence
from .wording import note_with_flags


@dataclass(frozen=True)
class TrainedFile:
    """A file of a trained tokenizer, with the result of comparing both."""

    path: Path
    tokenizer: Tokenizer
    conversion: Conversion

    @property
    def has_same_ids(self) -> bool:
        """Whether all texts have the ids of the trained tokenizer, or those of the format's own export."""
        return not self.conversion.divergences or self.conversion.is_reference_export

    @cached_property
    def better_pattern(self) -> str | None:
        """A split pattern with which the file would lose neither ids nor text; None if none is needed or known."""
        return better_pattern(self.tokenizer, self.conversion.format) if changes_texts(self.conversion) else None

    @property
    def summary(self) -> str:
        """The result in one line, with the cure if there is one."""
        advice = f"train with --pattern {self.better_pattern}, which keeps all ids and texts"
        return "; ".join([self._result, *([advice] if self.better_pattern else [])])

    @property
    def _result(self) -> str:
        """The result in one line, without a cure."""
        conversion = self.conversion
        if not splits_differ(conversion):
            return conversion.summary
        scripts = ", ".join(script_names(conversion))
        text_name = f"text in {scripts}" if scripts else "some text"
        difference = f"{conversion.same_ids_text}, because {conversion.format} splits {text_name} differently"
        return "; ".join([difference, *conversion.other_losses()])

    def lines(self) -> Iterator[str]:
        """Yields the lines of the report."""
        yield f"{self.path}: {self.tokenizer.vocab_size} entries; {self.summary}"
        if not self.conversion.is_reference_export:
            yield from (f"  not in the file: {loss}" for loss in self.conversion.losses)
            yield from (f"  {line}" for line in decoding_lines(self.conversion))
            for divergence in self.conversion.divergences[:1]:
                lines = describe_divergence(divergence, "trained", self.conversion.format)
                yield from (f"  {line}" for line in lines)
        notes = (note.removeprefix("names: ") for note in self.conversion.notes if note.startswith("names:"))
        yield from (f"  note: {note_with_flags(note)}" for note in notes)

    def to_json(self) -> dict[str, Any]:
        """Returns the report as a JSON value."""
        return {
            "path": str(self.path),
            "entries": self.tokenizer.vocab_size,
            "summary": self.summary,
            "better_pattern": self.better_pattern,
            **report_as_json(self.conversion),
        }
