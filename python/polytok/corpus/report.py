"""The report of a job: the counts of documents, tokens and bytes of each input, and the count of skipped documents by
reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from .manifest import DocumentCounts, total

MAX_EXAMPLES = 10
"""The maximum number of skipped documents whose places are reported."""

_MAX_INPUT_ROWS = 10
_MAX_NAME_LENGTH = 60


@dataclass(frozen=True, slots=True)
class Report:
    """The results of a job.

    ``inputs`` maps the name of each input to its counts. ``examples`` has the place and the reason for each of the
    first skipped documents, and ``damage`` describes the first places where inputs are damaged. ``retried`` is how
    often a task was restarted because its worker died. ``was_finished`` is true if an earlier call had finished the
    job, so that this call did nothing.
    """

    inputs: Mapping[str, DocumentCounts]
    examples: Sequence[tuple[str, str]] = field(default=())
    retried: int = field(default=0, compare=False)
    damage: Sequence[str] = field(default=())
    was_finished: bool = field(default=False, compare=False)

    @property
    def total(self) -> DocumentCounts:
        """The sums of the counts of all inputs."""
        return total(self.inputs.values())

    def __str__(self) -> str:
        """Returns a table with a line for each input and the sums, then the reasons for skipped documents, and damage.

        >>> print(Report({"a.txt": DocumentCounts(2, 10, 50), "b.txt": DocumentCounts(1, 10, 30, {"not UTF-8": 1})}))
        input  documents  tokens  bytes per token  skipped
        a.txt          2      10             5.00        0
        b.txt          1      10             3.00        1  not UTF-8: 1
        total          3      20             4.00        1
        skipped: not UTF-8: 1
        >>> report = Report({"a.gz": DocumentCounts(2, 10, 50, damaged=1)}, damage=["a.gz is truncated after byte 9"])
        >>> print(str(report).splitlines()[-1])
        damaged file: a.gz is truncated after byte 9
        """
        return "\n".join([*table("input", self.inputs, max_rows=_MAX_INPUT_ROWS), *self._notes()])

    def _notes(self) -> Iterator[str]:
        for word in ("skipped", "changed"):
            for reason, count in sorted(getattr(self.total, word).items()):
                place = next((place for place, example_reason in self.examples if example_reason == reason), None)
                yield f"{word}: {reason}: {count:,}" + (f", e.g. {place}" if place else "")
        yield from (f"damaged file: {description}" for description in self.damage)
        if other_count := self.total.damaged - len(self.damage):
            yield f"{'other ' if self.damage else ''}damage in inputs: {other_count:,}"
        if self.retried:
            yield f"restarts of tasks whose worker died: {self.retried}"


def parse_counts(record: Mapping[str, Any]) -> DocumentCounts:
    """Returns the counts in a record."""
    return DocumentCounts(**{field.name: record[field.name] for field in fields(DocumentCounts)})


def sum_counts_by_source(count: int, records: Iterable[Mapping[str, Any]]) -> list[DocumentCounts]:
    """Returns the counts of each of ``count`` sources, summed over the records of tasks."""
    sums = [DocumentCounts()] * count
    for record in records:
        for source, source_record in record["sources"].items():
            sums[int(source)] = sums[int(source)].plus(parse_counts(source_record))
    return sums


def examples(records: Iterable[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Returns pairs of the place and the reason for the first skipped documents in the records of tasks."""
    return [(place, reason) for record in records for place, reason in record["examples"]][:MAX_EXAMPLES]


def damage(records: Iterable[Mapping[str, Any]]) -> list[str]:
    """Returns the descriptions of the first damage in the records of tasks."""
    return [description for record in records for description in record["damage"]][:MAX_EXAMPLES]


def table(title: str, counts_by_name: Mapping[str, DocumentCounts], max_rows: int | None = None) -> list[str]:
    """Returns the lines of a table: a header that begins with ``title``, a row for each name, and the sums.

    If there are more than ``max_rows`` names, the last row before the sums has only the count of the omitted names.
    """
    rows = [(*_table_row(name, counts), _format_reasons(counts)) for name, counts in counts_by_name.items()]
    if max_rows is not None and len(rows) > max_rows + 1:
        rows[max_rows:] = [(f"and {len(rows) - max_rows} more", *[""] * 5)]
    header = (title, "documents", "tokens", "bytes per token", "skipped", "")
    return align_columns([header, *rows, (*_table_row("total", total(counts_by_name.values())), "")])


def _table_row(name: str, counts: DocumentCounts) -> tuple[str, ...]:
    bytes_per_token = f"{counts.text_bytes / counts.tokens:.2f}" if counts.tokens and counts.text_bytes else "-"
    short_name = name if len(name) <= _MAX_NAME_LENGTH else "…" + name[1 - _MAX_NAME_LENGTH :]
    skipped_count = sum(counts.skipped.values())
    return short_name, f"{counts.documents:,}", f"{counts.tokens:,}", bytes_per_token, f"{skipped_count:,}"


def _format_reasons(counts: DocumentCounts) -> str:
    reasons = [f"{reason}: {count:,}" for reason, count in sorted(counts.skipped.items())]
    return ", ".join([*reasons, *(["damaged"] if counts.damaged else [])])


def align_columns(rows: list[tuple[str, ...]]) -> list[str]:
    """Returns a line for each row; all columns except the first and the last are aligned to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    cells = ([row[0].ljust(widths[0]), *map(str.rjust, row[1:-1], widths[1:-1]), row[-1]] for row in rows)
    return ["  ".join(row).rstrip() for row in cells]
