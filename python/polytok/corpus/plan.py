"""The plan of a corpus job: the inputs, split into independent tasks.

A plan depends only on the inputs, how they are read and the size of a shard, so the same call makes the same plan. A
file is split only if its parts can be read independently: uncompressed lines, JSON lines and separated texts by bytes,
Parquet by row groups, Arrow files by record batches. Any other file is read as a whole. A text belongs to the range
that contains its first byte, so planning need not find the bounds of texts (ranges.py finds them).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from ..errors import ArgumentError, FormatError
from ..reading import Reading
from ..reading.kinds import FIRST, format_of
from ..reading.opened import begun, is_compressed
from ..reading.tables import open_table
from .ranges import separator_of
from .sources import Inputs, Source, opened, sources

Unit = Literal["bytes", "groups", "whole"]

SHARD_SIZE = 1 << 27
"""The bytes of input per task, by default."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a source: a range of bytes, of groups (row groups, record batches), or all of it.

    The plan numbers its sources. ``bytes`` is the size of the part on the disk.
    """

    source: int
    start: int
    end: int
    unit: Unit
    bytes: int

    def to_plain(self) -> dict[str, Any]:
        """As JSON has it."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Task:
    """Parts that are read in turn and make one shard."""

    number: int
    parts: tuple[Part, ...]

    @property
    def bytes(self) -> int:
        """How much there is to read."""
        return sum(part.bytes for part in self.parts)

    def to_plain(self) -> dict[str, Any]:
        """As JSON has it."""
        return {"number": self.number, "parts": [part.to_plain() for part in self.parts]}


@dataclass(frozen=True, slots=True)
class Plan:
    """All the work to do. Plain data: `to_plain` and `from_plain` convert it to and from JSON."""

    sources: tuple[Source, ...]
    tasks: tuple[Task, ...]

    def to_plain(self) -> dict[str, Any]:
        """As JSON has it."""
        sources, tasks = ([item.to_plain() for item in items] for items in (self.sources, self.tasks))
        return {"sources": sources, "tasks": tasks}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Plan:
        """The plan that `to_plain` serialized. Raises `FormatError` if the value is not a plan."""
        try:
            found = tuple(Source(**source) for source in plain["sources"])
            tasks = tuple(
                Task(task["number"], tuple(Part(**part) for part in task["parts"])) for task in plain["tasks"]
            )
            for number, task in enumerate(tasks):
                if task.number != number or not all(0 <= part.source < len(found) for part in task.parts):
                    raise ValueError(f"task {task.number} is not one of this plan")
        except (KeyError, TypeError, ValueError) as error:
            raise FormatError(f"this is no plan: {error}") from error
        return cls(found, tasks)


def plan(
    inputs: Inputs,
    reading: Reading | None = None,
    shard_size: int = SHARD_SIZE,
    *,
    outside: str | os.PathLike[str] | None = None,
) -> Plan:
    """Split inputs into tasks of about ``shard_size`` bytes of input each.

    Small files share a task, in the order of the inputs. Raises what `sources` raises.
    """
    if shard_size < 1:
        raise ArgumentError(f"shard_size={shard_size} is less than a byte")
    found = sources(inputs, outside=outside)
    chosen = reading or Reading()
    parts = [part for number, source in enumerate(found) for part in _parts(number, source, chosen, shard_size)]
    return Plan(found, tuple(Task(number, task) for number, task in enumerate(_packed(parts, shard_size))))


def _packed(parts: Sequence[Part], shard_size: int) -> Iterator[tuple[Part, ...]]:
    """Group parts in order, as many as fit into a task."""
    task: list[Part] = []
    size = 0
    for part in parts:
        if task and size + part.bytes > shard_size:
            yield tuple(task)
            task, size = [], 0
        task.append(part)
        size += part.bytes
    if task:
        yield tuple(task)


def _parts(number: int, source: Source, reading: Reading, shard_size: int) -> list[Part]:
    whole = [Part(number, 0, source.size, "whole", source.size)]
    if source.size <= shard_size or not source.ranges:
        return whole
    try:
        return _divided(number, source, reading, shard_size) or whole
    except FormatError:
        return whole  # the task reports what is wrong with it, or skips it


def _divided(number: int, source: Source, reading: Reading, shard_size: int) -> list[Part]:
    """The parts of a source that is larger than a shard; none if it can only be read as a whole."""
    with opened(source) as opened_file:
        file, first = begun(opened_file, FIRST)
        format = format_of(source.name, first, reading.format)
        if format in ("parquet", "arrow") and not is_compressed(first):
            return _groups(number, source, open_table(source.name, file, first, format).sizes, shard_size)
    if is_compressed(first) or separator_of(reading, format) is None:
        return []
    count = -(-source.size // shard_size)
    borders = [source.size * index // count for index in range(count + 1)]
    return [Part(number, start, end, "bytes", end - start) for start, end in pairwise(borders)]


def _groups(number: int, source: Source, sizes: Sequence[int], shard_size: int) -> list[Part]:
    """Join neighbouring groups, by their share of the file."""
    total = sum(sizes)
    shares = [source.size * size // total if total else 0 for size in sizes]
    parts: list[Part] = []
    for group, size in enumerate(shares):
        last = parts[-1] if parts else None
        if last and last.bytes + size <= shard_size:
            parts[-1] = Part(number, last.start, group + 1, "groups", last.bytes + size)
        else:
            parts.append(Part(number, group, group + 1, "groups", size))
    return parts
