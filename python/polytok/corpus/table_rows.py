"""Reads single rows of Parquet and Arrow files."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from ..errors import FileError, FormatError
from ..reading.tables import require_pyarrow

if TYPE_CHECKING:
    from ..arrow import pyarrow


@contextmanager
def translate_errors(path: Path) -> Iterator[Any]:
    """Yields the module pyarrow, and raises pyarrow's errors as `FileError` and `FormatError`."""
    arrow = require_pyarrow(str(path))
    try:
        yield arrow
    except FormatError:
        raise
    except OSError as error:
        raise FileError(error.errno, f"cannot read the shard: {error.strerror or error}", str(path)) from error
    except (arrow.ArrowException, ValueError) as error:
        raise FormatError(f"{path}: {error}") from error


class TableRows:
    """The rows of a file. The file is read in groups: row groups of Parquet, record batches of Arrow.

    The group of the last row is kept in memory. Several threads can use the rows together. All methods raise
    `FileError` and `FormatError` for a file that cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        self._group_number = -1
        self._group: Any = None
        with translate_errors(path):
            self._file = _ParquetGroups(path) if path.suffix == ".parquet" else _ArrowGroups(path)
            self._first_rows: list[int] = [0, *accumulate(self._file.row_counts)]

    def __len__(self) -> int:
        return self._first_rows[-1]

    def row(self, index: int) -> pyarrow.Table:
        """Returns a table with row ``index`` only."""
        return self._rows_of_group(bisect_right(self._first_rows, index) - 1, index, index + 1)

    def rows(self, start: int, end: int) -> pyarrow.Table:
        """Returns a table with the rows ``start`` to ``end - 1``."""
        first_group = bisect_right(self._first_rows, start) - 1
        last_group = bisect_left(self._first_rows, end, lo=first_group + 1)
        groups = [self._rows_of_group(number, start, end) for number in range(first_group, last_group)]
        return require_pyarrow().concat_tables(groups)

    def _rows_of_group(self, number: int, start: int, end: int) -> pyarrow.Table:
        """Returns the rows from ``start`` to ``end - 1`` that are in group ``number``."""
        with self._lock, translate_errors(self._path):
            if number != self._group_number:
                self._group = self._file.group(number)
                self._group_number = number
            group, first_row = self._group, self._first_rows[number]
        return group.slice(max(start - first_row, 0), end - max(start, first_row))


class _ParquetGroups:
    def __init__(self, path: Path) -> None:
        from pyarrow import parquet  # type: ignore[import-not-found, import-untyped, unused-ignore]

        self._file = parquet.ParquetFile(path)
        metadata = self._file.metadata
        self.row_counts = [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]

    def group(self, number: int) -> pyarrow.Table:
        return self._file.read_row_group(number)


class _ArrowGroups:
    def __init__(self, path: Path) -> None:
        from pyarrow import ipc, memory_map  # type: ignore[import-not-found, import-untyped, unused-ignore]

        self._file = ipc.open_file(memory_map(str(path)))
        self.row_counts = [self._batch(number).num_rows for number in range(self._file.num_record_batches)]

    def _batch(self, number: int) -> pyarrow.RecordBatch:
        batch = self._file.get_batch(number)
        batch.validate()
        return batch

    def group(self, number: int) -> pyarrow.Table:
        return require_pyarrow().Table.from_batches([self._batch(number)])
