"""What a job has done: for each input its documents, tokens and bytes, and what was left out of it and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .manifest import Counted, total

_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Report:
    """What a job has done.

    ``inputs`` has what came of each, ``examples`` where the first documents stand that were left out, with reasons;
    ``retried`` is how often a task was begun again because its worker had died.
    """

    inputs: Mapping[str, Counted]
    examples: Sequence[tuple[str, str]] = field(default=())
    retried: int = field(default=0, compare=False)

    @property
    def total(self) -> Counted:
        """What came of all inputs."""
        return total(self.inputs.values())

    def __str__(self) -> str:
        """A table for people: a line for each input, and what was left out.

        >>> print(Report({"a.txt": Counted(2, 10, 50), "b.txt": Counted(1, 10, 30, {"no UTF-8": 1})}))
        documents  tokens  bytes  bytes/token  skipped
                2      10     50         5.00        0  a.txt
                1      10     30         3.00        1  b.txt
                3      20     80         4.00        1  total
        skipped: 1 no UTF-8
        """
        rows = list(self.inputs.items())
        if len(rows) > _SHOWN + 1:
            rest = rows[_SHOWN:]
            rows[_SHOWN:] = [(f"{len(rest)} more", total(counted for _, counted in rest))]
        retried = [f"begun again, for the worker had died: {self.retried} times"] if self.retried else []
        return "\n".join([*table([*rows, ("total", self.total)]), *notes(self.total, self.examples), *retried])


def table(rows: Sequence[tuple[str, Counted]]) -> list[str]:
    """The lines of a table: numbers, and then the names, which may be of any length."""
    names = ("documents", "tokens", "bytes", "bytes/token", "skipped")
    shown = [names, *(_numbers(counted) for _, counted in rows)]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    lines = ("  ".join(map(str.rjust, row, widths)) for row in shown)
    return [f"{line}  {name}".rstrip() for line, name in zip(lines, ["", *(name for name, _ in rows)], strict=True)]


def notes(counted: Counted, examples: Sequence[tuple[str, str]] = ()) -> Iterator[str]:
    """Why documents were skipped or changed, a line for each reason, and where the first is."""
    for what in ("skipped", "changed"):
        for reason, count in getattr(counted, what).items():
            at = next((place for place, why in examples if why == reason), None)
            yield f"{what}: {count:,} {reason}" + (f", e.g. {at}" if at else "")


def _numbers(counted: Counted) -> tuple[str, ...]:
    ratio = f"{counted.text_bytes / counted.tokens:.2f}" if counted.tokens else "-"
    skipped = sum(counted.skipped.values())
    counts = (f"{number:,}" for number in (counted.documents, counted.tokens, counted.text_bytes))
    return (*counts, ratio, f"{skipped:,}")


def counted_of(plain: Mapping[str, Any]) -> Counted:
    """Counts, as a task's record has them."""
    return Counted(*(plain[name] for name in ("documents", "tokens", "text_bytes", "skipped", "changed")))


def by_source(count: int, records: Iterable[Mapping[str, Any]]) -> list[Counted]:
    """What came of each source, by the records of tasks."""
    sums = [Counted()] * count
    for record in records:
        for source, plain in record["sources"].items():
            sums[int(source)] = sums[int(source)].plus(counted_of(plain))
    return sums


def examples(records: Iterable[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """The first places of what was left out, by the records of tasks."""
    return [(place, reason) for record in records for place, reason in record["examples"]][:_SHOWN]
