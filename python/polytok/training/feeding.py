"""Passes all texts of the inputs to a trainer."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from ..errors import ArgumentError
from ..progress import Report
from ..reading import Reading
from .counting import Counts
from .inputs import Inputs, InputStream, TrainingReport
from .reading import Part

_TIMES = 6
"""The number of copies in memory of a text that a trainer takes whole: as read, normalized, and its counts."""


class TrainingWarning(UserWarning):
    """Some texts were skipped in training, or the result differs from the request."""


def feed(
    trainer: Any,
    inputs: Inputs,
    reading: Reading | None,
    report: TrainingReport | None,
    progress: Report | None,
    max_memory: int | None = None,
) -> None:
    """Pass all texts to a trainer, or to `Counts`.

    Raises `ArgumentError` for a text of a file that the trainer needs whole, but that does not fit into the memory
    limit.
    """
    counts = trainer if isinstance(trainer, Counts) else getattr(trainer, "counts", None)
    keeps_bytes = isinstance(trainer, Counts) or getattr(trainer, "keeps_bytes", False)
    told = TrainingReport() if report is None else report
    stream = InputStream(inputs, reading or Reading(), told, keeps_bytes=keeps_bytes)
    push_part = _part_taker(trainer, counts, max_memory)
    for batch in stream:
        if isinstance(batch, Part):
            push_part(batch)
        else:
            trainer.push(batch)
        if progress is not None:
            progress("reading", stream.done, stream.total)
    for reason, count in getattr(trainer, "left_out", {}).items():
        told.left_out[reason] = told.left_out.get(reason, 0) + count
    if told.left_out and report is None:
        warnings.warn(str(told), TrainingWarning, stacklevel=3)


def _part_taker(trainer: Any, counts: Counts | None, max_memory: int | None) -> Callable[[Part], None]:
    """Accepts parts of texts: counts take any part; lines are split at line feeds; other texts are buffered to their
    end.
    """
    if counts is not None and counts.takes_parts:
        return lambda part: counts.push_part(part.data, is_last=part.is_last)
    held: list[bytes] = []
    most = None if max_memory is None else max_memory // _TIMES
    cuts = bool(getattr(trainer, "lines", False))

    def take(part: Part) -> None:
        end = len(part.data) if part.is_last else part.data.rfind(b"\n") + 1 if cuts else 0
        held.append(part.data[:end])
        if end or part.is_last:
            trainer.push([b"".join(held)])
            held.clear()
        held.append(part.data[end:])
        if most is not None and sum(map(len, held)) > most:
            raise ArgumentError(
                f"{part.place}: a text of more than {most:,} bytes, which this kind holds {_TIMES} times over, more "
                f"than the {max_memory:,} bytes of max_memory: let its lines be the texts (--lines, unit='line'), or "
                "raise it"
            )

    return take
