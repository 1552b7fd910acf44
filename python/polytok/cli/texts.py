"""Reads the texts of the command line, of files of any kind, and of standard input."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain
from typing import IO, Any, NamedTuple, overload

from ..errors import ArgumentError
from ..reading import Documents, InputOptions, SkippedTexts
from ..reading.documents import PlaceFunction
from ..reading.fields import MissingColumnError, no_fields_error
from ..reading.files import Part, open_file, read, read_in_parts
from ..reading.kinds import format_by_name
from ..reading.names import files_named, is_url
from .inputs import input_names, parse_input_options
from .models import refuse_tokenizers_as_texts
from .style import escape_line_breaks

STDIN = "-"  # the file name that selects standard input
TEXT_OPTION = "--text"  # the name of texts on the command line, in tables

_NO_LABEL = "(none)"


class LabelledTexts(NamedTuple):
    """Texts with a common label; ``place`` describes where the text with an index is, for reports."""

    label: str
    texts: list[bytes]
    place: PlaceFunction


class PlacedTexts(NamedTuple):
    """Texts, and the place of each for reports: ``--text``, ``file``, ``file:line`` or ``file: row 5``."""

    texts: list[bytes]
    places: list[str]


class _Batch(NamedTuple):
    """Texts of an input, the value of a field of each text, and a function that describes the place of a text.

    ``values`` is None if the input has no fields, or if no field is requested.
    """

    name: str
    texts: list[bytes]
    values: list[Any] | None
    place: PlaceFunction


@contextmanager
def open_input(name: str) -> Iterator[IO[bytes]]:
    """Opens a file or URL for reading bytes; the name ``-`` selects standard input."""
    if name == STDIN:
        yield sys.stdin.buffer
    else:
        with open_file(name) as file:
            yield file


def named_texts(arguments: argparse.Namespace) -> Iterator[tuple[str, list[bytes]]]:
    """Yields the texts of all inputs in batches of a few megabytes, each with the name of its input.

    Without inputs, standard input is read. Skipped texts are reported on standard error at the end. By default, bad
    bytes are kept. Raises `ArgumentError` for a tokenizer among the inputs.
    """
    refuse_tokenizers_as_texts(arguments)
    return ((batch.name, batch.texts) for batch in _batches(arguments, input_file_names(arguments)))


def texts_in_parts(arguments: argparse.Namespace) -> Iterator[list[bytes] | Part]:
    """Yields the texts as `named_texts` does, but a file that is a single text in parts, if bad bytes are kept."""
    refuse_tokenizers_as_texts(arguments)
    input_options = parse_input_options(arguments)
    if input_options.bad_bytes not in (None, "keep"):
        yield from (batch.texts for batch in _batches(arguments, input_file_names(arguments)))
        return
    yield from ([text.encode("utf-8", "surrogateescape")] for text in arguments.text)
    skipped = SkippedTexts()
    for name in input_file_names(arguments):
        for item in _file_batches(name, input_options, None, skipped, in_parts=True):
            yield item if isinstance(item, Part) else item.texts
    _report_skipped(skipped)


def labelled_texts(arguments: argparse.Namespace, by: str) -> Iterator[LabelledTexts]:
    """Yields the texts of all inputs in batches, each with its label: by ``file``, ``folder``, or the value of a field.

    Texts without the field have the label ``(none)``. A file that is named twice is read once, and reported on standard
    error. Raises `ArgumentError` for a tokenizer among the inputs.
    """
    refuse_tokenizers_as_texts(arguments)
    names = _different_files(input_file_names(arguments))
    if by in ("file", "folder"):
        for name, texts, _, place in _batches(arguments, names):
            yield LabelledTexts(_label_of_file(name, by), texts, place)
        return
    for batch in _batches(arguments, names, by):
        rows_of_label: dict[str, list[int]] = {}
        for row, value in enumerate(batch.values or [None] * len(batch.texts)):
            rows_of_label.setdefault(_NO_LABEL if value is None else str(value), []).append(row)
        for label, rows in rows_of_label.items():
            yield LabelledTexts(label, [batch.texts[row] for row in rows], partial(_place_of_row, batch.place, rows))


def labels_of_files(arguments: argparse.Namespace, by: str) -> dict[str, str]:
    """Returns the label of each input file: by ``file`` or ``folder``, or by ``input``: then the files of a folder that
    is an input have the name of this input.

    A file that is named twice is reported on standard error.
    """
    labels: dict[str, str] = {}
    for name in input_names(arguments):
        is_folder = name != STDIN and not is_url(name) and os.path.isdir(name)
        for file in [name] if name == STDIN else files_named(name):
            labels.setdefault(file, name if by == "input" and is_folder else _label_of_file(file, by))
    return {file: labels[file] for file in _different_files(list(labels))}


def texts_of_files(arguments: argparse.Namespace, names: Iterable[str]) -> Iterator[tuple[str, list[bytes]]]:
    """Yields the texts of ``--text``, and those of files, in batches, each with the name of its file.

    Raises `ArgumentError` for a tokenizer among the inputs.
    """
    refuse_tokenizers_as_texts(arguments)
    return ((batch.name, batch.texts) for batch in _batches(arguments, list(names)))


def _label_of_file(name: str, by: str) -> str:
    return os.path.dirname(name) or os.curdir if by == "folder" and name not in (STDIN, TEXT_OPTION) else name


def _place_of_row(place: PlaceFunction, rows: list[int], index: int) -> str:
    return place(rows[index])


def _different_files(names: list[str]) -> list[str]:
    """Returns the names without those of files that are named before, which are reported on standard error."""
    different_names: dict[str, str] = {}
    for name in names:
        key = name if name == STDIN or is_url(name) else os.path.realpath(name)
        if different_names.setdefault(key, name) is not name:
            print(f"polytok: {escape_line_breaks(name)} is named twice and read once", file=sys.stderr)
    return list(different_names.values())


def requested_texts(arguments: argparse.Namespace) -> PlacedTexts | None:
    """Returns all texts of the inputs and of ``--text``, with their places; None if none are named."""
    if not arguments.text and not input_names(arguments):
        return None
    refuse_tokenizers_as_texts(arguments)
    all_texts = PlacedTexts([], [])
    for batch in _batches(arguments, input_file_names(arguments)):
        all_texts.texts.extend(batch.texts)
        all_texts.places.extend(map(batch.place, range(len(batch.texts))))  # a place is known only during its batch
    return all_texts


def _batches(arguments: argparse.Namespace, names: list[str], field: str | None = None) -> Iterator[_Batch]:
    input_options = parse_input_options(arguments)
    skipped = SkippedTexts()
    for text in arguments.text:
        yield _whole_batch(TEXT_OPTION, text.encode("utf-8", "surrogateescape"))
    file_batches = (_file_batches(name, input_options, field, skipped) for name in names)
    yield from chain.from_iterable(file_batches) if field is None else _batches_with_field(file_batches, names, field)
    _report_skipped(skipped)


def _report_skipped(skipped: SkippedTexts) -> None:
    if report := str(skipped):
        print(f"polytok: {report}", file=sys.stderr)


def _batches_with_field(files: Iterable[Iterator[_Batch]], names: list[str], field: str) -> Iterator[_Batch]:
    """Yields the batches of files with the values of a field. Raises `ArgumentError` if no file has the field."""
    error: ArgumentError | None = None
    has_field = has_texts = False
    for batches in files:
        has_records = False
        try:
            for batch in batches:
                yield batch
                has_records, has_texts = batch.values is not None, True
        except MissingColumnError as missing_column_error:
            error = error or missing_column_error
        else:
            has_field = has_field or has_records
    if names and has_texts and not has_field:
        raise error or no_fields_error(names[0], field)


def input_file_names(arguments: argparse.Namespace) -> list[str]:
    """Returns the files of all inputs; ``-`` for standard input, also without any input and text."""
    names = input_names(arguments)
    if not names:
        return [] if arguments.text else [STDIN]
    return [file for name in names for file in ([name] if name == STDIN else files_named(name))]


@overload
def _file_batches(
    name: str, input_options: InputOptions, field: str | None, skipped: SkippedTexts
) -> Iterator[_Batch]: ...
@overload
def _file_batches(
    name: str, input_options: InputOptions, field: str | None, skipped: SkippedTexts, *, in_parts: bool
) -> Iterator[_Batch | Part]: ...
def _file_batches(
    name: str, input_options: InputOptions, field: str | None, skipped: SkippedTexts, *, in_parts: bool = False
) -> Iterator[Any]:
    """Yields the texts of a file in batches. An empty text file is an empty text, unless it is split.

    With ``in_parts``, a file that is a single text is yielded in parts.
    """
    columns = [] if field is None else [field]
    with open_input(name) as file:
        if input_options.lines and file.isatty():
            yield from (_whole_batch(name, line.removesuffix(b"\n")) for line in file)
            return
        is_empty = True
        bad_bytes = input_options.bad_bytes or "keep"
        items: Iterator[Documents | Part] = (
            read_in_parts(name, file, input_options, bad_bytes)
            if in_parts
            else read(name, file, input_options, bad_bytes, columns)
        )
        for documents in items:
            is_empty = False
            if isinstance(documents, Part):
                yield documents
                continue
            for text in documents.skipped:
                skipped.add(text)
            if documents.damage is not None:
                skipped.damage.append(documents.damage)
            texts = [text or b"" for text in documents.texts.to_list()]
            values = None if documents.columns is None else documents.columns[field].to_pylist()
            is_whole = input_options.is_whole_file and format_by_name(name) == "text"
            yield _Batch(name, texts, values, partial(_whole_place, name) if is_whole else documents.place)
    if is_empty and input_options.is_whole_file and format_by_name(name) == "text":
        yield _whole_batch(name, b"")


def _whole_batch(name: str, text: bytes) -> _Batch:
    return _Batch(name, [text], None, partial(_whole_place, name))


def _whole_place(name: str, _: int) -> str:
    return name
