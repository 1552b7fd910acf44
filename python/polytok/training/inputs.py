"""Reads the inputs of training as a stream: texts of any iterable, and texts in files."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NoReturn, TypeAlias, cast

from ..errors import ArgumentError, FormatError
from ..keywords import keyword
from ..reading import BadBytes, Documents, InputOptions, SkippedText, SkippedTexts, remote
from ..reading.documents import long_record_error
from ..reading.fields import field_names, fields_text, missing_field_error
from ..reading.files import Part, open_file, read_in_parts, translate_errors
from ..reading.names import files_named, is_url
from ..reading.skipped import too_long_reason
from ..reading.streams import peek_first_bytes
from ..values import Text
from .counting import COUNTS_MAGIC
from .utf8 import Utf8Converter

Inputs: TypeAlias = "str | os.PathLike[str] | Iterable[Any]"
"""A path, a pattern of paths, or an iterable of texts, paths, open files, records, and lists of these."""

_BATCH_BYTES = 1 << 23
_BATCH_TEXTS = 1 << 16
_CHECKED_TEXT_COUNT = 16  # the number of first texts that must not be names of files
_MAX_NAME_LENGTH = 1024
_FILE_NAME = re.compile(r"\S+\.(txt|md|csv|tsv|json|jsonl|ndjson|parquet|arrow|feather|gz|zst|bz2|xz)", re.IGNORECASE)


@dataclass(slots=True)
class TrainingReport(SkippedTexts):
    """The report of training: the texts and bytes read, the texts and damage skipped, and notes about the result.

    >>> import polytok
    >>> report = polytok.TrainingReport()
    >>> _ = polytok.count_words(["a b", {"text": None}], bad_records="skip", report=report)
    >>> report.texts, report.skipped
    (1, {"the field 'text' is null": 1})
    >>> report.examples
    [('text 2', "the field 'text' is null")]
    """

    texts: int = 0
    bytes: int = 0
    notes: list[str] = field(default_factory=list)
    """Notes about the result, for example that the vocabulary is smaller than requested."""

    def __str__(self) -> str:
        """Returns the notes and the counts of skipped texts, line by line.

        >>> print(TrainingReport(notes=["the vocabulary has 270 entries"]))
        the vocabulary has 270 entries
        """
        return "\n".join(filter(None, [*self.notes, SkippedTexts.__str__(self)]))


class InputStream:
    """Iterates over the texts of the inputs, in batches. Also has the progress of reading.

    With ``in_parts``, a text file that is one text is yielded in parts, unless the option ``bad_bytes`` needs the whole
    text. ``check_length`` is called with the length and the place of texts that are yielded as a whole, at least of the
    longest text of a batch; it raises an error for a text that is too long.
    """

    def __init__(
        self,
        inputs: Inputs,
        input_options: InputOptions,
        report: TrainingReport,
        bad_bytes: BadBytes,
        *,
        in_parts: bool = False,
        check_length: Callable[[int, str], None] | None = None,
    ) -> None:
        self._input_items = _input_items(inputs)
        self._input_options = input_options
        self._bad_bytes = bad_bytes
        self._in_parts = in_parts and bad_bytes != "skip"
        self._check_length = check_length
        self._utf8_converter = Utf8Converter(bad_bytes)
        self._report = report
        self._text_number = 0
        self._skipped_names: list[str] = []  # the fields of the first skipped record
        self._file_names: list[str] = []  # the texts that look like names of files or are names of folders
        self._finished_bytes = 0
        self._file: IO[bytes] | None = None
        self.total: int = (
            sum(_size_on_disk(item) for item in self._input_items) if isinstance(self._input_items, list) else 0
        )
        """The size of all files on the disk in bytes; 0 if it is unknown."""

    @property
    def done(self) -> int:
        """The bytes read so far: bytes on the disk if `total` is known, else bytes of texts."""
        if not self.total:
            return self._report.bytes
        return self._finished_bytes + (_read_position(self._file) if self._file else 0)

    def __iter__(self) -> Iterator[list[bytes] | Part]:
        batch: list[bytes] = []
        size = 0
        for item in self._checked_texts():
            if isinstance(item, bytes):
                batch.append(item)
                size += len(item)
            is_text = isinstance(item, bytes)
            if batch and (not is_text or size >= _BATCH_BYTES or len(batch) >= _BATCH_TEXTS):
                yield batch
                batch, size = [], 0
            if not isinstance(item, bytes):
                yield item
        if batch:
            yield batch

    def _checked_texts(self) -> Iterator[bytes | list[bytes] | Part]:
        """Yields the texts of all inputs as UTF-8, in batches for files, and reports skipped texts."""
        for item in self._input_items:
            for result in self._read_item(item):
                if isinstance(result, Documents):
                    yield from self._texts_of(result)
                elif isinstance(result, SkippedText):
                    self._report.add(result)
                elif isinstance(result, Part):
                    yield self._convert_part(result)
                else:
                    yield from self._convert_text(*result)
        if self._skipped_names and not self._report.texts and self._input_options.field not in self._skipped_names:
            raise missing_field_error("inputs", self._input_options.field, self._skipped_names)
        if self._file_names and len(self._file_names) == self._report.texts:
            _refuse_file_names(self._file_names)

    def _texts_of(self, documents: Documents) -> Iterator[list[bytes]]:
        for skipped_text in documents.skipped:
            self._report.add(skipped_text)
        if documents.damage is not None:
            self._report.damage.append(documents.damage)
        if len(documents):
            self._report.texts += len(documents)
            self._report.bytes += documents.texts.nbytes
            texts = cast("list[bytes]", documents.texts.to_list())  # documents have no null texts
            if self._check_length is not None:
                lengths = list(map(len, texts))
                longest = max(lengths)
                self._check_length(longest, documents.place(lengths.index(longest)))
            yield texts

    def _join_parts(self, items: Iterable[Documents | Part]) -> Iterator[Documents | SkippedText | tuple[Text, str]]:
        """Joins the parts of each text, unless the text is too long."""
        parts: list[bytes] = []
        byte_count, max_bytes = 0, self._input_options.max_record_bytes
        for item in items:
            if not isinstance(item, Part):
                yield item
                continue
            byte_count += len(item.data)
            if byte_count <= max_bytes:
                parts.append(item.data)
            else:
                parts.clear()
            if byte_count > max_bytes and (item.is_last or self._input_options.bad_records == "error"):
                yield self._long_text(item.place)
            elif item.is_last:
                yield b"".join(parts), item.place
            if item.is_last:
                parts, byte_count = [], 0

    def _convert_part(self, part: Part) -> Part:
        converted_part = self._utf8_converter.part(part)
        self._report.texts += part.is_last
        self._report.bytes += len(converted_part.data)
        return converted_part

    def _convert_text(self, text: Text, place: str) -> Iterator[bytes]:
        converted_text = self._utf8_converter.text(text, place)
        if isinstance(converted_text, bytes) and len(converted_text) > self._input_options.max_record_bytes:
            converted_text = self._long_text(place)
        if isinstance(converted_text, SkippedText):
            self._report.add(converted_text)
            return
        if self._check_length is not None:
            self._check_length(len(converted_text), place)
        self._report.texts += 1
        self._report.bytes += len(converted_text)
        yield converted_text

    def _long_text(self, place: str) -> SkippedText:
        """Returns the report of a text that is too long. Raises `FormatError` unless the options skip the text."""
        skipped_text = SkippedText(too_long_reason(self._input_options.max_record_bytes), place)
        if self._input_options.bad_records == "error":
            raise long_record_error(skipped_text)
        return skipped_text

    def _read_item(self, item: Any) -> Iterator[Documents | Part | SkippedText | tuple[Text, str]]:
        """Yields the texts of one item of the inputs."""
        if isinstance(item, os.PathLike):
            name = os.fspath(item)
            with open_file(name) as file:
                yield from self._read_file(name, file)
            self._finished_bytes += _size_on_disk(item)
        elif hasattr(item, "read"):
            yield from self._read_file(str(getattr(item, "name", "input")), item)
        elif isinstance(item, Iterable) and not isinstance(item, (str, bytes, Mapping)):
            for inner_item in item:
                yield from self._read_item(inner_item)
        else:
            self._text_number += 1
            if isinstance(item, str) and self._text_number <= _CHECKED_TEXT_COUNT:
                _check_not_file_name(item)
                self._file_names += [item] if _is_like_name(item) else []
            yield self._text_of_record(item)

    def _text_of_record(self, item: Any) -> tuple[Text, str] | SkippedText:
        text = _find_text(item, self._input_options.names, f"text {self._text_number}")
        if isinstance(text, SkippedText):
            field, names = self._input_options.field, field_names([item] if isinstance(item, Mapping) else [])
            if self._input_options.bad_records == "error":
                advice = f"; {fields_text(names, field)}" if names and field not in names else ""
                raise FormatError(f"{text}; {keyword('bad_records', 'skip')} skips such records{advice}")
            self._skipped_names = self._skipped_names or names
        return text

    def _read_file(self, name: str, file: IO[bytes]) -> Iterator[Documents | Part | SkippedText | tuple[Text, str]]:
        self._file = file
        with translate_errors(name):
            checked_file, first_bytes = peek_first_bytes(file, len(COUNTS_MAGIC))
        if first_bytes == COUNTS_MAGIC:
            raise ArgumentError(
                f"{name} is a file of counts, but texts are expected here: to train from counts, name only files of "
                "counts; to add counts up, use Counts.load (count-words --merge)"
            )
        items = read_in_parts(name, checked_file, self._input_options, self._bad_bytes)
        yield from items if self._in_parts else self._join_parts(items)
        self._file = None


def _input_items(inputs: Inputs) -> Iterable[Any]:
    """Returns inputs that are names of files as a list of paths, and any other inputs as an iterable."""
    if isinstance(inputs, bytes) or inputs is None:
        raise ArgumentError("the inputs are a single text: give a list of texts, or paths of files")
    if (input_paths := paths_of(inputs)) is not None:
        return input_paths
    inputs = cast("Iterable[Any]", inputs)
    return [inputs] if isinstance(inputs, Mapping) or hasattr(inputs, "read") else inputs


def paths_of(inputs: Any) -> list[os.PathLike[str]] | None:
    """Returns the files for paths and patterns; None if any input is not a path or pattern."""
    if isinstance(inputs, (str, os.PathLike)):
        return _matching_paths(os.fspath(inputs))
    if isinstance(inputs, (list, tuple)) and all(isinstance(item, os.PathLike) for item in inputs):
        return [path for item in inputs for path in _matching_paths(os.fspath(item))]
    return None


def path_or_url(name: str) -> os.PathLike[str]:
    """Returns a name as a `pathlib.Path`, or as a `Url` if it is a URL, because a Path would remove a slash."""
    return remote.Url(name) if is_url(name) else Path(name)


def _matching_paths(name: str) -> list[os.PathLike[str]]:
    return [path_or_url(file) for file in files_named(name)]


def _size_on_disk(path: Any) -> int:
    try:
        if isinstance(path, remote.Url):
            return remote.size_and_stamp(path.url)[0]
        return os.stat(path).st_size if isinstance(path, os.PathLike) else 0
    except OSError:
        return 0


def _read_position(file: IO[bytes]) -> int:
    try:
        return file.tell()
    except (OSError, ValueError):
        return 0


def _can_be_name(text: str) -> bool:
    return len(text) < _MAX_NAME_LENGTH and "\n" not in text and "\0" not in text


def _is_like_name(text: str) -> bool:
    """Reports whether a text is like the name of a file, or is the name of a folder."""
    return _FILE_NAME.fullmatch(text[:_MAX_NAME_LENGTH]) is not None or (_can_be_name(text) and os.path.isdir(text))


def _check_not_file_name(text: str) -> None:
    """Raises `ArgumentError` for a text that is the name of an existing file, because this is probably a mistake."""
    if _can_be_name(text) and os.path.isfile(text):
        raise ArgumentError(
            f"the text {text!r} is also the name of a file: to read the file, give pathlib.Path({text!r})"
        )


def _refuse_file_names(names: Sequence[str]) -> NoReturn:
    """Raises `ArgumentError` for inputs that consist of some names of files or folders, which is probably a mistake."""
    name = names[0]
    if os.path.isdir(name):
        problem = f"all texts are names of files or folders, such as the folder {name!r}"
    else:
        problem = f"all texts look like names of files, such as {name!r}, but no such file exists"
    call = f"give the pattern itself, {name!r}, without a list" if "*" in name else f"give pathlib.Path({name!r})"
    raise ArgumentError(f"{problem}: to read files, {call}; to use the names themselves as texts, give them as bytes")


def _find_text(record: Any, names: list[str], place: str) -> tuple[bytes | str, str] | SkippedText:
    """Returns the text of a record and its place: the field at the path ``names``, or the record if it is a text.

    Returns a `SkippedText` if the record has no such field, or if the field is not a text.
    """
    value, field = record, ".".join(names)
    for name in () if isinstance(record, (str, bytes)) else names:
        if not isinstance(value, dict) or name not in value:
            return SkippedText(f"no field {field!r}", place)
        value = value[name]
    if isinstance(value, (str, bytes)):
        return value, place
    return SkippedText(f"the field {field!r} is {'null' if value is None else 'not a text'}", place)
