"""Inputs for training: texts of any iterable, and files, read once as a stream."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, TypeAlias, cast

from ..errors import ArgumentError, FormatError
from ..reading import Documents, Invalid, Reading, SkippedText, remote
from ..reading.names import files_named, is_url
from ..values import Text
from .reading import Found, Part, open_file, picked, read
from .utf8 import Utf8

Inputs: TypeAlias = "str | os.PathLike[str] | Iterable[Any]"
"""A path or a pattern of paths, or texts, paths, records and lists of these in any combination."""

_BATCH_BYTES = 1 << 23
_BATCH_TEXTS = 1 << 16
_NAME_CHECKS = 16
_LONGEST_NAME = 1024
_SHOWN = 10


@dataclass(slots=True)
class TrainingReport:
    """What was read, what was skipped, and other notes on the result.

    >>> import polytok
    >>> report = polytok.TrainingReport()
    >>> _ = polytok.count_words(["a b", {"text": None}], reading=polytok.Reading(records="skip"), report=report)
    >>> report.texts, report.left_out
    (1, {"no field 'text'": 1})
    >>> report.examples
    [('text 2', "no field 'text'")]
    """

    texts: int = 0
    bytes: int = 0
    left_out: dict[str, int] = field(default_factory=dict)
    """The number of skipped texts, by reason."""
    examples: list[tuple[str, str]] = field(default_factory=list)
    """The places of the first of them, each with its reason."""
    notes: list[str] = field(default_factory=list)
    """Other notes, such as a vocabulary smaller than requested."""

    def leave_out(self, text: SkippedText) -> None:
        """Record one more skipped text."""
        self.left_out[text.reason] = self.left_out.get(text.reason, 0) + 1
        if len(self.examples) < _SHOWN:
            self.examples.append((text.place, text.reason))

    def __str__(self) -> str:
        """The report, line by line.

        >>> report = TrainingReport()
        >>> report.leave_out(SkippedText("no field 'text'", "a.jsonl:7"))
        >>> print(report)
        1 text was left out
          no field 'text': 1, e.g. at a.jsonl:7
        """
        lines = list(self.notes)
        if count := sum(self.left_out.values()):
            lines.append(f"{count} text{'s were' if count != 1 else ' was'} left out")
        for reason, times in self.left_out.items():
            at = next((place for place, why in self.examples if why == reason), None)
            lines.append(f"  {reason}: {times}" + (f", e.g. at {at}" if at else ""))
        return "\n".join(lines)


class InputStream:
    """Iterates over batches of texts, and over parts of long ones. Reports its progress."""

    def __init__(self, inputs: Inputs, reading: Reading, report: TrainingReport, *, keeps_bytes: bool) -> None:
        invalid = reading.invalid or ("keep" if keeps_bytes else "error")
        if invalid == "keep" and not keeps_bytes:
            raise ArgumentError("invalid='keep' is for kinds over bytes: choose 'error', 'replace' or 'skip'")
        self._items = _items(inputs)
        self._reading = reading
        self._invalid: Invalid = invalid
        self._utf8 = Utf8(invalid)
        self._report = report
        self._number = 0
        self._finished = 0
        self._file: IO[bytes] | None = None
        self.total: int = sum(_size(item) for item in self._items) if isinstance(self._items, list) else 0
        """The size of all files on the disk, in bytes; 0 if it is unknown."""

    @property
    def done(self) -> int:
        """The bytes read so far, measured as `total` is; without files, the bytes of the texts."""
        if not self.total:
            return self._report.bytes
        return self._finished + (_position(self._file) if self._file else 0)

    def __iter__(self) -> Iterator[list[bytes] | Part]:
        batch: list[bytes] = []
        size = 0
        for found in self._checked():
            if isinstance(found, bytes):
                batch.append(found)
                size += len(found)
            is_one = isinstance(found, bytes)
            if batch and (not is_one or size >= _BATCH_BYTES or len(batch) >= _BATCH_TEXTS):
                yield batch
                batch, size = [], 0
            if not isinstance(found, bytes):
                yield found
        if batch:
            yield batch

    def _checked(self) -> Iterator[bytes | list[bytes] | Part]:
        """The remaining texts, those of files some megabytes at a time; skipped texts are reported."""
        for item in self._items:
            for found in self._of(item):
                if isinstance(found, Documents):
                    yield from self._batch(found)
                elif isinstance(found, SkippedText):
                    self._report.leave_out(found)
                else:
                    yield from self._one(found)

    def _batch(self, found: Documents) -> Iterator[list[bytes]]:
        for left in found.skipped:
            self._report.leave_out(left)
        if len(found):
            self._report.texts += len(found)
            self._report.bytes += found.texts.nbytes
            yield cast("list[bytes]", found.texts.to_list())  # none of them is null

    def _one(self, found: Part | tuple[Text, str]) -> Iterator[bytes | Part]:
        for checked in self._utf8.part(found) if isinstance(found, Part) else [self._utf8.text(*found)]:
            if isinstance(checked, SkippedText):
                self._report.leave_out(checked)
                continue
            self._report.texts += not isinstance(checked, Part) or checked.is_last
            self._report.bytes += len(checked.data if isinstance(checked, Part) else checked)
            yield checked

    def _of(self, item: Any) -> Iterator[Found | tuple[Text, str]]:
        """The texts that one item of the inputs stands for."""
        if isinstance(item, os.PathLike):
            name = os.fspath(item)
            with open_file(name) as file:
                yield from self._open(name, file)
            self._finished += _size(item)
        elif hasattr(item, "read"):
            yield from self._open(str(getattr(item, "name", "input")), item)
        elif isinstance(item, Iterable) and not isinstance(item, (str, bytes, Mapping)):
            for one in item:
                yield from self._of(one)
        else:
            self._number += 1
            if isinstance(item, str) and self._number <= _NAME_CHECKS:
                _check_no_name(item)
            yield self._picked(item)

    def _picked(self, item: Any) -> tuple[Text, str] | SkippedText:
        found = picked(item, self._reading.names, f"text {self._number}")
        if isinstance(found, SkippedText) and self._reading.records == "error":
            raise FormatError(f"{found}; records='skip' leaves such texts out")
        return found

    def _open(self, name: str, file: IO[bytes]) -> Iterator[Found]:
        self._file = file
        yield from read(name, file, self._reading, self._invalid)
        self._file = None


def _items(inputs: Inputs) -> Iterable[Any]:
    """Files as a list of paths; anything else unchanged."""
    if isinstance(inputs, bytes) or inputs is None:
        raise ArgumentError("one text alone is not much to train on: give a list of texts, or paths")
    if (paths := paths_of(inputs)) is not None:
        return paths
    inputs = cast("Iterable[Any]", inputs)
    return [inputs] if isinstance(inputs, Mapping) or hasattr(inputs, "read") else inputs


def paths_of(inputs: Any) -> list[os.PathLike[str]] | None:
    """The files that inputs name, with patterns resolved, if all inputs are names of files."""
    if isinstance(inputs, (str, os.PathLike)):
        return _paths(os.fspath(inputs))
    if isinstance(inputs, (list, tuple)) and all(isinstance(item, os.PathLike) for item in inputs):
        return [path for item in inputs for path in _paths(os.fspath(item))]
    return None


def named(name: str) -> os.PathLike[str]:
    """A path; or a URL, which would lose a slash as a path."""
    return remote.Url(name) if is_url(name) else Path(name)


def _paths(name: str) -> list[os.PathLike[str]]:
    return [named(found) for found in files_named(name)]


def _size(path: Any) -> int:
    try:
        if isinstance(path, remote.Url):
            return remote.size_and_stamp(path.url)[0]
        return os.stat(path).st_size if isinstance(path, os.PathLike) else 0
    except OSError:
        return 0


def _position(file: IO[bytes]) -> int:
    try:
        return file.tell()
    except (OSError, ValueError):
        return 0


def _check_no_name(text: str) -> None:
    """Reject a text that is a file's name: it is probably not meant as a text."""
    if len(text) < _LONGEST_NAME and "\n" not in text and "\0" not in text and os.path.isfile(text):
        raise ArgumentError(f"{text!r} is a text here, and a file has that name: give pathlib.Path({text!r})")
