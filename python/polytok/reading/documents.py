"""Documents: texts of files with the reading options applied, and reports of the texts that were skipped."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _core
from ..errors import EncodeError, FormatError
from .blocks import Block
from .choices import Invalid, Reading
from .opened import Damaged

NO_UTF8 = "no UTF-8"

DAMAGED = "damaged"

Place = Callable[[int], str]
"""Returns a description of a text's place from its number, for reports: ``a.jsonl: byte 70``."""


class Left(NamedTuple):
    """A skipped text and the reason: ``place`` is for reports, ``detail`` is specific to this text."""

    reason: str
    place: str
    detail: str = ""

    def __str__(self) -> str:
        """Format as in an error message.

        >>> print(Left("not JSON", "a.jsonl: byte 70", "expected `:`"))
        a.jsonl: byte 70: not JSON: expected `:`
        """
        return ": ".join(filter(None, (self.place, self.reason, self.detail)))


@dataclass(frozen=True, slots=True)
class Documents:
    """Some texts of a file, in order. All of them are UTF-8, unless invalid bytes are kept.

    ``columns`` is a pyarrow.Table with a row per text, if columns were requested. ``left`` lists what was skipped
    between the texts. ``replaced`` is the number of texts in which U+FFFD replaces invalid bytes.
    """

    texts: _core.Texts
    numbers: npt.NDArray[np.int64]
    """Where each text's record begins: a byte of the file's (decompressed) content, or a row of its table."""
    left: tuple[Left, ...] = ()
    replaced: int = 0
    columns: Any = None
    place: Place = str
    """The place of a row's text, for reports."""

    def __len__(self) -> int:
        return len(self.texts)


def documents_of(
    blocks: Iterable[Block], reading: Reading, invalid: Invalid, place: Place, *, is_json: bool
) -> Iterator[Documents]:
    """Apply the reading options to blocks.

    Raises `FormatError` for a broken record and `EncodeError` for a text that is not UTF-8, if the options say so.
    """
    # No kind keeps lone surrogates of JSON.
    chosen: Invalid = "replace" if invalid == "keep" and is_json else invalid
    end = 0
    try:
        for block in blocks:
            if block.left and reading.records == "error":
                raise FormatError(f"{_left(*block.left[0], place)}; records='skip' leaves such texts out")
            yield _checked(block, chosen, place)
            end = block.end
    except Damaged as error:
        yield nothing(damage(error, reading, place(end)))


def damage(error: Damaged, reading: Reading, place: str) -> Left:
    """The report of what is lost after a damage; raises the error instead if damage is an error."""
    if reading.broken == "error":
        raise FormatError(f"{error}; broken='skip' reads what stands before") from error
    return Left(DAMAGED, place, str(error))


def nothing(left: Left) -> Documents:
    """No documents, for this reason."""
    return Documents(_core.Texts.of_list([]), np.zeros(0, np.int64), (left,))


def _left(number: int, reason: str, place: Place) -> Left:
    """The reason is the same for many of them."""
    reason, _, detail = reason.partition(": ")
    return Left(reason, place(number), detail)


def _checked(block: Block, invalid: Invalid, place: Place) -> Documents:
    texts, numbers, columns, replaced = block.texts, block.numbers, block.columns, 0
    lacking = block.left
    if invalid == "replace":
        texts, bad = texts.checked("replace")
        replaced = len(bad)
    elif invalid != "keep":
        texts, bad = texts.checked("skip")
        if len(bad) and invalid == "error":
            raise _refused(block, int(bad[0]), place)
        lacking = sorted([*lacking, *((int(numbers[row]), NO_UTF8) for row in bad)])
        numbers, columns = _without(bad, numbers, columns)
    left = tuple(_left(number, reason, place) for number, reason in lacking)
    return Documents(texts, numbers, left, replaced, columns, lambda row: place(int(numbers[row])))


def _without(bad: npt.NDArray[np.int64], numbers: npt.NDArray[np.int64], columns: Any) -> Any:
    if not len(bad):
        return numbers, columns
    good = np.ones(len(numbers), bool)
    good[bad] = False
    return numbers[good], None if columns is None else columns.take(np.flatnonzero(good))


def _refused(block: Block, row: int, place: Place) -> EncodeError:
    where = ""
    try:
        block.texts[row].decode()
    except UnicodeDecodeError as error:
        where = f" at {error.start}"
    at = place(int(block.numbers[row]))
    return EncodeError(f"{at}: no UTF-8{where}; invalid='replace' or 'skip' says what to do with it")


def with_fields(blocks: Iterable[Block], names: Sequence[str], arrow: Any) -> Iterator[Block]:
    """Blocks of JSON lines with other fields of their records as columns.

    A column holds strings: a string field unchanged, any other as JSON, null if the field is missing. So its type does
    not depend on the records. Records nested too deeply for Python's JSON are skipped.
    """
    for block in blocks:
        records = [_record(block, int(number)) for number in block.numbers]
        lacking = [(int(block.numbers[row]), found) for row, found in enumerate(records) if isinstance(found, str)]
        if lacking:
            rows = np.array([row for row, found in enumerate(records) if not isinstance(found, str)], np.int64)
            left = sorted([*block.left, *lacking])
            block = replace(block, texts=block.texts.take(rows), numbers=block.numbers[rows], left=left)
        fields = {name: [_as_text(found, name) for found in records if not isinstance(found, str)] for name in names}
        yield replace(block, columns=arrow.table(fields, schema=schema_of_fields(names, arrow)))


def schema_of_fields(names: Sequence[str], arrow: Any) -> Any:
    """The schema of the columns of `with_fields`."""
    return arrow.schema([(name, arrow.string()) for name in names])


def _record(block: Block, number: int) -> dict[str, Any] | str:
    """The record of a line, empty if the line is only a text; or the reason why it has none."""
    begin = number - block.start
    end = block.data.find(b"\n", begin)
    try:
        record = json.loads(block.data[begin : end if end >= 0 else None])
    except (ValueError, RecursionError) as error:
        return f"fields that cannot be read: {error}"
    return record if isinstance(record, dict) else {}


def _as_text(record: dict[str, Any], name: str) -> str | None:
    value: Any = record
    for part in name.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    if value is None:
        return None
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
