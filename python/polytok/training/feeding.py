"""Passes the texts of the inputs to a trainer."""

from __future__ import annotations

import warnings
from collections.abc import Callable
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
    used_report = TrainingReport() if report is None else report
    stream = InputStream(inputs, input_options, used_report, bad_bytes_for(trainer, input_options))
    push_part = _create_push_part(trainer, counts, max_memory)
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


def _create_push_part(trainer: Any, counts: Counts | None, max_memory: int | None) -> Callable[[Part], None]:
    """Returns a function that passes parts of texts to a trainer.

    `Counts` accept any part of a text. Trainers that work on lines receive whole lines. Other trainers receive whole
    texts, whose parts are buffered.
    """
    if counts is not None and counts.takes_parts:
        return lambda part: counts.push_part(part.data, is_last=part.is_last)
    buffered_parts: list[bytes] = []
    max_bytes = None if max_memory is None else max_memory // _MEMORY_PER_TEXT_SIZE
    works_on_lines = bool(getattr(trainer, "lines", False))

    def push_part(part: Part) -> None:
        end = len(part.data) if part.is_last else part.data.rfind(b"\n") + 1 if works_on_lines else 0
        buffered_parts.append(part.data[:end])
        if end or part.is_last:
            trainer.push([b"".join(buffered_parts)])
            buffered_parts.clear()
        buffered_parts.append(part.data[end:])
        if max_bytes is not None and sum(map(len, buffered_parts)) > max_bytes:
            raise ArgumentError(
                f"{part.place}: a text of more than {max_bytes:,} bytes needs more memory than "
                f"{keyword('max_memory')} allows "
                f"({max_memory:,} bytes), because this kind needs {_MEMORY_PER_TEXT_SIZE} times the size of a text: "
                f"read each line as a text ({keyword('lines', True)}), or raise {keyword('max_memory')}"
            )

    return push_part
