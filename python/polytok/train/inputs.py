"""What one may train on: texts of any iterable, and files, read once as a stream."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Literal, TypeAlias, cast, get_args

from ..errors import ArgumentError, FormatError
from ..values import Text
from . import reading
from .reading import Format, Found, Left, Part, Unit
from .utf8 import Invalid, Utf8

Inputs: TypeAlias = "str | os.PathLike[str] | Iterable[Any]"
"""A path or a pattern of paths, or texts, paths, records and lists of these in any mixture."""

_Records = Literal["error", "skip"]

_BATCH_BYTES = 1 << 23
_BATCH_TEXTS = 1 << 16
_NAME_CHECKS = 16
_LONGEST_NAME = 1024
_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Reading:
    """How files are read.

    * ``format``: ``text``, ``jsonl`` or ``parquet``; None goes by the name of each file. Compression (gzip, zstd,
      bzip2, xz) is told by the first bytes.
    * ``field``: where the text stands in a JSON object, a record or a Parquet file; ``a.b`` is the field b of a.
    * ``unit``: whether a text file is one text, or each of its lines (without its line feed) is.
    * ``invalid``: what becomes of a text that is no UTF-8: an ``error``, U+FFFD for what is no character (``replace``),
      left out and reported (``skip``), or taken as it is (``keep``), which only kinds over bytes can. By default
      ``keep`` for those and ``error`` for others. Lone surrogates of a ``str`` are U+FFFD in any case but the first.
    * ``records``: whether a broken line, or one without the field, is an ``error`` or left out and reported (``skip``).
    """

    format: Format | None = None
    field: str = "text"
    unit: Unit = "file"
    invalid: Invalid | None = None
    records: _Records = "error"

    def __post_init__(self) -> None:
        """Raises `ArgumentError` for a value that is none of those."""
        for name, kind in (("format", Format), ("unit", Unit), ("invalid", Invalid), ("records", _Records)):
            value, allowed = getattr(self, name), get_args(kind)
            may_lack = name in ("format", "invalid")
            if value not in allowed and not (may_lack and value is None):
                listed = ", ".join(map(repr, allowed)) + (", None" if may_lack else "")
                raise ArgumentError(f"{name}={value!r} is none of {listed}")
        if not isinstance(self.field, str) or not self.field:
            raise ArgumentError(f"field={self.field!r} is no name of a field")


@dataclass(slots=True)
class TrainingReport:
    """What was read and what was not, and what else is to be known of the result.

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
    """How many texts were left out, by reason."""
    examples: list[tuple[str, str]] = field(default_factory=list)
    """Where the first of them stand, each with its reason."""
    notes: list[str] = field(default_factory=list)
    """What else is to be known, such as a vocabulary that became smaller than asked for."""

    def leave_out(self, text: Left) -> None:
        """One more text is left out."""
        self.left_out[text.reason] = self.left_out.get(text.reason, 0) + 1
        if len(self.examples) < _SHOWN:
            self.examples.append((text.place, text.reason))

    def __str__(self) -> str:
        """What is to be told, a line each.

        >>> report = TrainingReport()
        >>> report.leave_out(Left("no field 'text'", "a.jsonl:7"))
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
    """Iterates over batches of texts, and over parts of long ones. Tells how far it is."""

    def __init__(self, inputs: Inputs, reading: Reading, report: TrainingReport, *, keeps_bytes: bool) -> None:
        invalid = reading.invalid or ("keep" if keeps_bytes else "error")
        if invalid == "keep" and not keeps_bytes:
            raise ArgumentError("invalid='keep' is for kinds over bytes: choose 'error', 'replace' or 'skip'")
        self._items = _items(inputs)
        self._reading = reading
        self._names = reading.field.split(".")
        self._utf8 = Utf8(invalid)
        self._report = report
        self._number = 0
        self._finished = 0
        self._file: IO[bytes] | None = None
        self.total: int = sum(_size(item) for item in self._items) if isinstance(self._items, list) else 0
        """The bytes of all files, as they lie on the disk; 0 where nobody knows."""

    @property
    def done(self) -> int:
        """Bytes read so far, as `total` counts them; without files the bytes of the texts."""
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
            is_part = isinstance(found, Part)
            if batch and (is_part or size >= _BATCH_BYTES or len(batch) >= _BATCH_TEXTS):
                yield batch
                batch, size = [], 0
            if isinstance(found, Part):
                yield found
        if batch:
            yield batch

    def _checked(self) -> Iterator[bytes | Part]:
        """What is left of the texts; the others are reported."""
        for item in self._items:
            for found in self._of(item):
                for checked in self._utf8.part(found) if isinstance(found, Part) else [self._text(found)]:
                    if isinstance(checked, Left):
                        self._report.leave_out(checked)
                    else:
                        self._count(checked)
                        yield checked

    def _text(self, found: tuple[Text, str] | Left) -> bytes | Left:
        if not isinstance(found, Left):
            return self._utf8.text(*found)
        if self._reading.records == "error":
            raise FormatError(f"{found.place}: {found.reason}; records='skip' leaves such texts out")
        return found

    def _count(self, text: bytes | Part) -> None:
        self._report.texts += not isinstance(text, Part) or text.is_last
        self._report.bytes += len(text.data if isinstance(text, Part) else text)

    def _of(self, item: Any) -> Iterator[Found]:
        """What one item of the inputs stands for."""
        if isinstance(item, os.PathLike):
            path = Path(item)
            with reading.open_file(path) as file:
                yield from self._open(path, file)
        elif hasattr(item, "read"):
            yield from self._open(Path(str(getattr(item, "name", "input"))), item)
        elif isinstance(item, Iterable) and not isinstance(item, (str, bytes, Mapping)):
            for one in item:
                yield from self._of(one)
        else:
            self._number += 1
            if isinstance(item, str) and self._number <= _NAME_CHECKS:
                _check_no_name(item)
            yield reading.picked(item, self._names, f"text {self._number}")

    def _open(self, path: Path, file: IO[bytes]) -> Iterator[Found]:
        self._file = file
        yield from reading.read(path, file, self._reading.format, self._reading.field, self._reading.unit)
        self._finished += _size(path)
        self._file = None


def _items(inputs: Inputs) -> Iterable[Any]:
    """Files as a list of paths, everything else as it comes."""
    if isinstance(inputs, bytes) or inputs is None:
        raise ArgumentError("one text alone is not much to train on: give a list of texts, or paths")
    if (paths := paths_of(inputs)) is not None:
        return paths
    inputs = cast("Iterable[Any]", inputs)
    return [inputs] if isinstance(inputs, Mapping) or hasattr(inputs, "read") else inputs


def paths_of(inputs: Any) -> list[Path] | None:
    """The files that inputs name, patterns resolved, if they are nothing but names of files."""
    if isinstance(inputs, (str, os.PathLike)):
        return _paths(os.fspath(inputs))
    if isinstance(inputs, (list, tuple)) and all(isinstance(item, os.PathLike) for item in inputs):
        return [path for item in inputs for path in _paths(os.fspath(item))]
    return None


def _paths(name: str) -> list[Path]:
    """The file of this name, or those that match it, sorted."""
    if os.path.exists(name) or not glob.has_magic(name):
        return [Path(name)]
    if found := sorted(glob.glob(name, recursive=True)):
        return [path for path in map(Path, found) if not path.is_dir()]
    raise ArgumentError(f"no file matches {name!r}")


def _size(path: Any) -> int:
    try:
        return os.stat(path).st_size if isinstance(path, os.PathLike) else 0
    except OSError:
        return 0


def _position(file: IO[bytes]) -> int:
    try:
        return file.tell()
    except (OSError, ValueError):
        return 0


def _check_no_name(text: str) -> None:
    """A text that is a file's name is hardly meant as a text."""
    if len(text) < _LONGEST_NAME and "\n" not in text and "\0" not in text and os.path.isfile(text):
        raise ArgumentError(f"{text!r} is a text here, and a file has that name: give pathlib.Path({text!r})")
