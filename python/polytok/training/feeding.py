"""Passes the texts of the inputs to a trainer."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

from ..errors import ArgumentError
from ..keywords import keyword
from ..progress import ReportProgress
from ..reading import BadBytes, InputOptions
from ..reading.files import Part
from .counting import Counts
from .inputs import Inputs, InputStream, TrainingReport

_MEMORY_PER_TEXT_SIZE = 6
"""The size of a text's copies in memory as a multiple of the text, if a trainer needs the whole text at a time."""


class TrainingWarning(UserWarning):
    """The warning that training skipped texts, or that its result differs from the request."""


def feed(
    trainer: Any,
    inputs: Inputs,
    input_options: InputOptions,
    report: TrainingReport | None,
    progress: ReportProgress | None,
    max_memory: int | None = None,
) -> None:
    """Passes all texts of the inputs to a trainer or to `Counts`.

    Skipped texts are added to ``report``; without a report, they cause a `TrainingWarning`. Raises `ArgumentError` for
    a text that exceeds the memory limit, if the trainer needs whole texts.
    """
    counts = trainer if isinstance(trainer, Counts) else getattr(trainer, "counts", None)
    takes_parts = counts is not None and counts.takes_parts
    works_on_lines = bool(getattr(trainer, "lines", False))
    used_report = TrainingReport() if report is None else report
    bad_bytes = bad_bytes_for(trainer, input_options)
    needs_whole_texts = not takes_parts and not works_on_lines
    check_length = partial(_check_memory, max_memory) if needs_whole_texts else None
    stream = InputStream(
        inputs, input_options, used_report, bad_bytes, in_parts=not needs_whole_texts, check_length=check_length
    )
    push_part = _push_parts_to(counts) if counts and takes_parts else _push_lines_to(trainer, max_memory)
    for batch in stream:
        if isinstance(batch, Part):
            push_part(batch)
        else:
            trainer.push(batch)
        if progress is not None:
            progress("reading", stream.done, stream.total)
    for reason, count in getattr(trainer, "skipped", {}).items():
        used_report.skipped[reason] = used_report.skipped.get(reason, 0) + count
    if used_report.skipped and report is None:
        warnings.warn(str(used_report), TrainingWarning, stacklevel=3)


def bad_bytes_for(trainer: Any, input_options: InputOptions) -> BadBytes:
    """Returns the value of ``bad_bytes`` for a trainer or `Counts`: the value in the options, or the default.

    Raises `ArgumentError` for a value that the trainer does not accept.
    """
    keeps_bytes = isinstance(trainer, Counts) or getattr(trainer, "keeps_bytes", False)
    default: BadBytes = getattr(trainer, "default_bad_bytes", "keep") if keeps_bytes else "error"
    if input_options.bad_bytes == "keep" and not keeps_bytes:
        raise ArgumentError(
            f"{keyword('bad_bytes', 'keep')} needs a kind over bytes: choose 'error', 'replace' or 'skip'"
        )
    return input_options.bad_bytes or default


def _push_parts_to(counts: Counts) -> Callable[[Part], None]:
    """Returns a function that passes parts of texts to counts, which keep the text after the last complete word."""

    def push_part(part: Part) -> None:
        counts.push_part(part.data, is_last=part.is_last)
        part.check_open(counts.open_bytes)

    return push_part


def _push_lines_to(trainer: Any, max_memory: int | None) -> Callable[[Part], None]:
    """Returns a function that passes the whole lines in parts of texts to a trainer, and buffers the last line."""
    buffered_parts: list[bytes] = []

    def push_part(part: Part) -> None:
        end = len(part.data) if part.is_last else part.data.rfind(b"\n") + 1
        buffered_parts.append(part.data[:end])
        if end or part.is_last:
            trainer.push([b"".join(buffered_parts)])
            buffered_parts.clear()
        buffered_parts.append(part.data[end:])
        open_bytes = sum(map(len, buffered_parts))
        part.check_open(open_bytes)
        _check_memory(max_memory, open_bytes, part.place)

    return push_part


def _check_memory(max_memory: int | None, byte_count: int, place: str) -> None:
    """Raises `ArgumentError` for a text that the trainer needs as a whole, if its copies exceed the memory limit."""
    if max_memory is not None and byte_count * _MEMORY_PER_TEXT_SIZE > max_memory:
        raise ArgumentError(
            f"{place}: a text of {byte_count:,} bytes or more needs more memory than {keyword('max_memory')} allows "
            f"({max_memory:,} bytes), because this kind needs {_MEMORY_PER_TEXT_SIZE} times the size of a text: "
            f"read each line as a text ({keyword('lines', True)}), or raise {keyword('max_memory')}"
        )
