"""Applies the options of reading to blocks of texts, and reports the texts that are skipped."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from ..errors import EncodeError, FormatError
from ..keywords import keyword
from ..utf8 import repaired
from .blocks import Block
from .choices import BadBytes, InputOptions
from .fields import field_names, fields_text, records_in
from .skipped import SkippedText, too_long_reason
from .streams import DamageError

NOT_UTF8_REASON = "not UTF-8"

PlaceFunction = Callable[[int], str]
"""A function that describes the place of a text with a number, for reports: ``a.jsonl: byte 70``."""


@dataclass(frozen=True, slots=True)
class Documents:
    """Consecutive texts of a file, as UTF-8 unless the options keep invalid bytes.

    ``skipped`` lists the skipped texts between these texts. ``replaced`` is the number of texts in which U+FFFD
    replaces invalid bytes. ``columns`` is a pyarrow.Table with a row for each text, or None. ``damage`` describes the
    damage of the file after these texts, if the options allow to skip it.
    """

    texts: _core.Texts
    numbers: npt.NDArray[np.int64]
    """The position of each text's record in the file's decompressed content, or its row in a table; int64, (texts,)."""
    skipped: tuple[SkippedText, ...] = ()
    replaced: int = 0
    columns: Any = None
    group: int | None = None
    """The row group or record batch of a table that contains the texts; None for other files."""
    place: PlaceFunction = str
    """Describes the place of the text in a row, for reports."""
    damage: str | None = None

    def __len__(self) -> int:
        return len(self.texts)


def apply_input_options(
    blocks: Iterable[Block], input_options: InputOptions, bad_bytes: BadBytes, place: PlaceFunction, *, is_json: bool
) -> Iterator[Documents]:
    """Applies the options of reading to blocks of texts.

    Raises `FormatError` for an invalid record or damage and `EncodeError` for a text that is not UTF-8, unless the
    options allow these problems.
    """
    # Lone surrogates in JSON are always replaced, because their bytes are not in the file.
    json_bad_bytes: BadBytes = "replace" if bad_bytes == "keep" and is_json else bad_bytes
    end = 0
    try:
        for block in blocks:
            if block.skipped and input_options.bad_records == "error":
                raise _record_error(block, input_options, place)
            yield _checked_documents(block, json_bad_bytes, place)
            end = block.end
    except DamageError as error:
        yield damaged_documents(error, input_options, place(end))


def _record_error(block: Block, input_options: InputOptions, place: PlaceFunction) -> FormatError:
    """Returns the error for the first skipped record of a block; if the record lacks the field, with its fields."""
    (number, reason), field = block.skipped[0], input_options.field
    text = _skipped_text(number, reason, place)
    if reason == too_long_reason(input_options.max_record_bytes):
        return long_record_error(text)
    message = f"{text}; {keyword('bad_records', 'skip')} skips such records"
    if not reason.startswith("no field"):
        return FormatError(message)
    names = field_names(records_in(block.data[number - block.start :].partition(b"\n")[0]))
    return FormatError(f"{message}; {fields_text(names, field)}" if names and field not in names else message)


def long_record_error(text: SkippedText) -> FormatError:
    """Returns the error for a record that is longer than the limit."""
    return FormatError(
        f"{text}; {keyword('bad_records', 'skip')} skips such records, and a larger {keyword('max_record_bytes')} "
        "accepts them"
    )


def damaged_documents(error: DamageError, input_options: InputOptions, place: str | None = None) -> Documents:
    """Returns documents without texts, which only report damage. Texts before ``place`` have been read.

    Raises `FormatError` if the options do not allow to skip damage.
    """
    if input_options.damaged_files == "error":
        raise FormatError(f"{error}; {keyword('damaged_files', 'skip')} reads the texts before the damage") from error
    damage = f"{error}; the texts before {place} were read" if place else str(error)
    return Documents(_core.Texts.of_list([]), np.zeros(0, np.int64), damage=damage)


def _skipped_text(number: int, reason: str, place: PlaceFunction) -> SkippedText:
    """Returns the report of a skipped text. If ``reason`` has a colon, the words after the colon are the details of
    this text."""
    reason, _, detail = reason.partition(": ")
    return SkippedText(reason, place(number), detail)


def _checked_documents(block: Block, bad_bytes: BadBytes, place: PlaceFunction) -> Documents:
    texts, numbers, columns, replaced_count = block.texts, block.numbers, block.columns, 0
    skipped_numbers = block.skipped
    if bad_bytes == "replace":
        texts, invalid_rows = texts.checked("replace")
        replaced_count = len(invalid_rows)
    elif bad_bytes != "keep":
        texts, invalid_rows = texts.checked("skip")
        if len(invalid_rows) and bad_bytes == "error":
            raise _create_utf8_error(block, int(invalid_rows[0]), place)
        skipped_numbers = sorted([*skipped_numbers, *((int(numbers[row]), NOT_UTF8_REASON) for row in invalid_rows)])
        numbers, columns = _remove_rows(invalid_rows, numbers, columns)
    skipped_texts = tuple(_skipped_text(number, reason, place) for number, reason in skipped_numbers)
    return Documents(texts, numbers, skipped_texts, replaced_count, columns, place=lambda row: place(int(numbers[row])))


def _remove_rows(removed_rows: npt.NDArray[np.int64], numbers: npt.NDArray[np.int64], columns: Any) -> Any:
    if not len(removed_rows):
        return numbers, columns
    is_kept = np.ones(len(numbers), bool)
    is_kept[removed_rows] = False
    return numbers[is_kept], None if columns is None else columns.take(np.flatnonzero(is_kept))


def _create_utf8_error(block: Block, row: int, place: PlaceFunction) -> EncodeError:
    """Returns the error for the text in ``row``, with the place of the text and of its first invalid byte."""
    byte_place = ""
    try:
        block.texts[row].decode()
    except UnicodeDecodeError as error:
        byte_place = f" at byte {error.start}"
    text_place = place(int(block.numbers[row]))
    return EncodeError(
        f"{text_place}: not UTF-8{byte_place}; {keyword('bad_bytes', 'replace')} replaces invalid bytes, and "
        f"{keyword('bad_bytes', 'skip')} skips the text"
    )


def add_field_columns(blocks: Iterable[Block], names: Sequence[str], arrow: Any) -> Iterator[Block]:
    """Yields blocks of JSON lines with the fields ``names`` of their records as columns.

    The type of a column is always string, so that the type does not depend on the records: a string field is unchanged,
    any other field is written as JSON, and a missing field is null. Records that Python's JSON reader rejects because
    of deep nesting are skipped.
    """
    for block in blocks:
        records = [_parse_record(block, int(number)) for number in block.numbers]
        unreadable_rows = {row: record for row, record in enumerate(records) if isinstance(record, str)}
        block = block.without(unreadable_rows) if unreadable_rows else block
        fields = {
            name: [_field_as_text(record, name) for record in records if not isinstance(record, str)] for name in names
        }
        yield replace(block, columns=arrow.table(fields, schema=create_fields_schema(names, arrow)))


def create_fields_schema(names: Sequence[str], arrow: Any) -> Any:
    """Returns the pyarrow.Schema of the columns that `add_field_columns` adds."""
    return arrow.schema([(name, arrow.string()) for name in names])


def _parse_record(block: Block, number: int) -> dict[str, Any] | str:
    """Returns the record of the line at position ``number``, or the reason why it cannot be read.

    The record is empty if the line is a JSON string.
    """
    start = number - block.start
    end = block.data.find(b"\n", start)
    try:
        record = json.loads(block.data[start : end if end >= 0 else None])
    except (ValueError, RecursionError) as error:
        return f"fields that cannot be read: {error}"
    return record if isinstance(record, dict) else {}


def _field_as_text(record: dict[str, Any], name: str) -> str | None:
    value: Any = record
    for part in name.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    if value is None:
        return None
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
    return repaired(text)
