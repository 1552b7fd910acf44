"""Documents: texts of files as the choices make them, and what was left out of them."""

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
"""Tells where the number of a text is, for reports: ``a.jsonl: byte 70``."""


class Left(NamedTuple):
    """A text that is not there, and why: ``place`` is for reports, ``detail`` what is particular to this one."""

    reason: str
    place: str
    detail: str = ""

    def __str__(self) -> str:
        """As it stands in an error.

        >>> print(Left("not JSON", "a.jsonl: byte 70", "expected `:`"))
        a.jsonl: byte 70: not JSON: expected `:`
        """
        return ": ".join(filter(None, (self.place, self.reason, self.detail)))


@dataclass(frozen=True, slots=True)
class Documents:
    """Some texts of a file, all of them UTF-8 (unless they are to be taken as they are), in their order.

    ``columns`` is a pyarrow.Table of as many rows if columns were asked for. ``left`` is what was left out between
    them, and ``replaced`` how many texts have U+FFFD for what was no UTF-8.
    """

    texts: _core.Texts
    numbers: npt.NDArray[np.int64]
    """Where each text's record begins: a byte of the file's (decompressed) content, or a row of its table."""
    left: tuple[Left, ...] = ()
    replaced: int = 0
    columns: Any = None
    place: Place = str
    """Tells where the text of a row is."""

    def __len__(self) -> int:
        return len(self.texts)


def documents_of(
    blocks: Iterable[Block], reading: Reading, invalid: Invalid, place: Place, *, is_json: bool
) -> Iterator[Documents]:
    """Blocks as the choices make them.

    Raises `FormatError` for a broken record and `EncodeError` for a text that is no UTF-8, where they are errors.
    """
    # Lone surrogates of JSON no kind takes as they are.
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
    """What is lost behind a damage; the error itself where that is an error."""
    if reading.broken == "error":
        raise FormatError(f"{error}; broken='skip' reads what stands before") from error
    return Left(DAMAGED, place, str(error))


def nothing(left: Left) -> Documents:
    """No documents, because of this."""
    return Documents(_core.Texts.of_list([]), np.zeros(0, np.int64), (left,))


def _left(number: int, reason: str, place: Place) -> Left:
    """What is the same for many of them is the reason."""
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

    A column is of strings: a field that is one as it is, any other as JSON, null where it lacks. So it has the same
    type whatever the records hold. Records that are too deep for Python's JSON are left out.
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
    """The record of a line, empty if the line is a text alone; or why there is none."""
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
