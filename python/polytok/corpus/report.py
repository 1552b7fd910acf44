"""The report of a job: for each input its documents, tokens and bytes, and what was skipped and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .manifest import Counted, total

EXAMPLES = 10
"""The number of skipped documents whose places are reported."""

_SHOWN = 10
_WIDTH = 60


@dataclass(frozen=True, slots=True)
class Report:
    """The results of a job.

    ``inputs`` has the results of each input. ``examples`` has the places of the first skipped documents, with reasons.
    ``retried`` is the number of times a task was restarted because its worker died.
    """

    inputs: Mapping[str, Counted]
    examples: Sequence[tuple[str, str]] = field(default=())
    retried: int = field(default=0, compare=False)

    @property
    def total(self) -> Counted:
        """The totals of all inputs."""
        return total(self.inputs.values())

    def __str__(self) -> str:
        """A table for people: a line for each input, with what was skipped and why, and the sums.

        >>> print(Report({"a.txt": Counted(2, 10, 50), "b.txt": Counted(1, 10, 30, {"no UTF-8": 1})}))
        input  documents  tokens  bytes per token  skipped
        a.txt          2      10             5.00        0
        b.txt          1      10             3.00        1  no UTF-8: 1
        total          3      20             4.00        1
        skipped: no UTF-8: 1
        """
        return "\n".join([*table("input", self.inputs, most=_SHOWN), *self._notes()])

    def _notes(self) -> Iterator[str]:
        for word in ("skipped", "changed"):
            for reason, times in sorted(getattr(self.total, word).items()):
                at = next((place for place, why in self.examples if why == reason), None)
                yield f"{word}: {reason}: {times:,}" + (f", e.g. {at}" if at else "")
        if self.retried:
            yield f"begun again, for the worker had died: {self.retried} times"


def counted_of(plain: Mapping[str, Any]) -> Counted:
    """Read counts from a task's record."""
    return Counted(*(plain[name] for name in ("documents", "tokens", "text_bytes", "skipped", "changed")))


def by_source(count: int, records: Iterable[Mapping[str, Any]]) -> list[Counted]:
    """The results of each source, from the records of tasks."""
    sums = [Counted()] * count
    for record in records:
        for source, plain in record["sources"].items():
            sums[int(source)] = sums[int(source)].plus(counted_of(plain))
    return sums


def examples(records: Iterable[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """The places of the first skipped documents, from the records of tasks."""
    return [(place, reason) for record in records for place, reason in record["examples"]][:EXAMPLES]


def table(what: str, counts: Mapping[str, Counted], most: int | None = None) -> list[str]:
    """A line for each row, then the sums. Of more than ``most`` rows, only the first and their number."""
    rows = [(*_row(name, counted), _reasons(counted)) for name, counted in counts.items()]
    if most is not None and len(rows) > most + 1:
        rows[most:] = [(f"and {len(rows) - most} more", *[""] * 5)]
    header = (what, "documents", "tokens", "bytes per token", "skipped", "")
    return _aligned([header, *rows, (*_row("total", total(counts.values())), "")])


def _row(name: str, counted: Counted) -> tuple[str, ...]:
    share = f"{counted.text_bytes / counted.tokens:.2f}" if counted.tokens else "-"
    shown = name if len(name) <= _WIDTH else "…" + name[1 - _WIDTH :]
    skipped = sum(counted.skipped.values())
    return shown, f"{counted.documents:,}", f"{counted.tokens:,}", share, f"{skipped:,}"


def _reasons(counted: Counted) -> str:
    return ", ".join(f"{reason}: {times:,}" for reason, times in sorted(counted.skipped.items()))


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    cells = ([row[0].ljust(widths[0]), *map(str.rjust, row[1:-1], widths[1:-1]), row[-1]] for row in rows)
    return ["  ".join(row).rstrip() for row in cells]
