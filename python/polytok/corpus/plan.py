"""The plan of a corpus job, which divides the inputs into independent tasks.

A plan depends only on the inputs, the options of reading and the size of a shard, so the same call creates the same
plan. A file is split only if its parts can be read independently. Uncompressed lines, JSON lines and separated texts
are split into ranges of bytes, Parquet files into row groups, and Arrow files into record batches. Any other file is
read as a whole. A text belongs to the range that contains its first byte, so planning does not need to find where texts
begin (ranges.py finds the first text of a range).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from ..errors import ArgumentError, FormatError
from ..keywords import keyword
from ..reading import InputOptions
from ..reading.kinds import FIRST_BYTE_COUNT, format_of
from ..reading.streams import is_compressed, is_stored_compressed, peek_first_bytes
from ..reading.tables import open_table
from .ranges import separator_of
from .sources import Inputs, Source, open_source, sources

PartUnit = Literal["bytes", "groups", "whole"]

SHARD_SIZE = 1 << 27
"""The default number of bytes of input for each task."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a source that one task reads.

    ``source`` is the index of the source in the plan. ``start`` and ``end`` are byte positions if ``unit`` is "bytes",
    and indices of row groups or record batches if ``unit`` is "groups". The unit "whole" selects the whole source.
    ``bytes`` is the size of the part on the disk.
    """

    source: int
    start: int
    end: int
    unit: PartUnit
    bytes: int

    def to_plain(self) -> dict[str, Any]:
        """Returns the part as a JSON value."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Task:
    """The parts of sources that one task reads in order and writes to one shard."""

    number: int
    parts: tuple[Part, ...]

    @property
    def bytes(self) -> int:
        """The number of bytes to read from the disk."""
        return sum(part.bytes for part in self.parts)

    def to_plain(self) -> dict[str, Any]:
        """Returns the task as a JSON value."""
        return {"number": self.number, "parts": [part.to_plain() for part in self.parts]}


@dataclass(frozen=True, slots=True)
class Plan:
    """The sources and tasks of a job; `to_plain` and `from_plain` convert a plan to and from a JSON value."""

    sources: tuple[Source, ...]
    tasks: tuple[Task, ...]

    def to_plain(self) -> dict[str, Any]:
        """Returns the plan as a JSON value."""
        sources, tasks = ([item.to_plain() for item in items] for items in (self.sources, self.tasks))
        return {"sources": sources, "tasks": tasks}

    @classmethod
    def from_plain(cls, json_object: Mapping[str, Any]) -> Plan:
        """Returns the plan from a value that `to_plain` returned. Raises `FormatError` if the value is not a plan."""
        try:
            plan_sources = tuple(Source(**source) for source in json_object["sources"])
            tasks = tuple(
                Task(task["number"], tuple(Part(**part) for part in task["parts"])) for task in json_object["tasks"]
            )
            for number, task in enumerate(tasks):
                if task.number != number or not all(0 <= part.source < len(plan_sources) for part in task.parts):
                    raise ValueError(f"task {task.number} has a wrong number or a source that the plan does not have")
        except (KeyError, TypeError, ValueError) as error:
            raise FormatError(f"the value is not a plan: {error}") from error
        return cls(plan_sources, tasks)


def plan(
    inputs: Inputs,
    input_options: InputOptions | None = None,
    shard_size: int = SHARD_SIZE,
    *,
    output_folder: str | os.PathLike[str] | None = None,
) -> Plan:
    """Divides the inputs into tasks that read about ``shard_size`` bytes each.

    Small files share a task, in the order of the inputs. ``output_folder`` must not contain inputs. Raises the errors
    of `sources`.
    """
    if shard_size < 1:
        raise ArgumentError(f"{keyword(f'shard_size={shard_size}')} is too small: it must be at least 1")
    plan_sources = sources(inputs, output_folder=output_folder)
    input_options = input_options or InputOptions()
    parts = [
        part
        for number, source in enumerate(plan_sources)
        for part in _split_source(number, source, input_options, shard_size)
    ]
    return Plan(plan_sources, tuple(Task(number, task) for number, task in enumerate(_group_parts(parts, shard_size))))


def _group_parts(parts: Sequence[Part], shard_size: int) -> Iterator[tuple[Part, ...]]:
    """Yields the parts of each task: consecutive parts of at most ``shard_size`` bytes in total, or a single larger
    part."""
    task_parts: list[Part] = []
    size = 0
    for part in parts:
        if task_parts and size + part.bytes > shard_size:
            yield tuple(task_parts)
            task_parts, size = [], 0
        task_parts.append(part)
        size += part.bytes
    if task_parts:
        yield tuple(task_parts)


def _split_source(number: int, source: Source, input_options: InputOptions, shard_size: int) -> list[Part]:
    whole_source = [Part(number, 0, source.size, "whole", source.size)]
    if source.size <= shard_size or not source.ranges:
        return whole_source
    try:
        return _split_large_source(number, source, input_options, shard_size) or whole_source
    except FormatError:
        return whole_source  # the task that reads the source reports or skips the damage


def _split_large_source(number: int, source: Source, input_options: InputOptions, shard_size: int) -> list[Part]:
    """Returns the parts of a source that is larger than a shard; an empty list if the source cannot be split."""
    with open_source(source) as opened_file:
        file, first_bytes = peek_first_bytes(opened_file, FIRST_BYTE_COUNT)
        format = format_of(source.name, first_bytes, input_options.input_format)
        if format in ("parquet", "arrow") and not is_compressed(first_bytes):
            return _join_groups(number, source, open_table(source.name, file, first_bytes, format).sizes, shard_size)
        is_compressed_file = is_stored_compressed(source.name, file, first_bytes)
    if is_compressed_file or separator_of(input_options, format) is None:
        return []
    count = -(-source.size // shard_size)
    positions = [source.size * index // count for index in range(count + 1)]
    return [Part(number, start, end, "bytes", end - start) for start, end in pairwise(positions)]


def _join_groups(number: int, source: Source, group_sizes: Sequence[int], shard_size: int) -> list[Part]:
    """Joins consecutive groups to parts. ``group_sizes`` has the relative sizes of the groups."""
    total = sum(group_sizes)
    group_byte_counts = [source.size * size // total if total else 0 for size in group_sizes]
    parts: list[Part] = []
    for group, size in enumerate(group_byte_counts):
        last_part = parts[-1] if parts else None
        if last_part and last_part.bytes + size <= shard_size:
            parts[-1] = Part(number, last_part.start, group + 1, "groups", last_part.bytes + size)
        else:
            parts.append(Part(number, group, group + 1, "groups", size))
    return parts
