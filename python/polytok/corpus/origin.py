"""Where documents come from: their input files, and the positions of their records in these files.

The documents table of a dataset has a row for each document: the columns of `ORIGIN_NAMES`, and the columns of the
input that the job stores. Parquet and Arrow shards have these columns themselves; other shards have a Parquet file
beside them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import ArgumentError
from ..keywords import keyword
from ..reading import Documents
from ..reading.tables import require_pyarrow

if TYPE_CHECKING:
    from ..arrow import pyarrow

ORIGIN_NAMES = ("source", "position", "group")
"""The columns that describe the record of a document; see `DocumentSource`."""


class DocumentSource(NamedTuple):
    """The record that a document comes from.

    ``file`` is the name of the input. ``position`` is the byte at which the record begins in the decompressed content;
    in a table, it is the row in row group (Parquet) or record batch (Arrow) number ``group``. ``columns`` has the
    values of the stored columns of the input. Without a documents table, only ``file`` is known.
    """

    file: str
    position: int | None = None
    group: int | None = None
    columns: Mapping[str, Any] = {}


def origin_schema(columns: pyarrow.Schema | None) -> pyarrow.Schema:
    """Returns the schema of a documents table with these columns of the input.

    Raises `ArgumentError` for a column of the input that has the name of another column of the table.
    """
    arrow = require_pyarrow("documents=True")
    for name in ORIGIN_NAMES:
        if columns is not None and name in columns.names:
            raise ArgumentError(
                f"{keyword('documents', True)} writes a column {name!r} itself: remove {name!r} from columns"
            )
    types = (arrow.string(), arrow.int64(), arrow.int32())
    return arrow.schema([*zip(ORIGIN_NAMES, types, strict=True), *(columns or ())])


def add_origin(block: Documents, name: str, schema: pyarrow.Schema) -> pyarrow.Table:
    """Returns the rows of the documents table for a block of documents from the input ``name``."""
    arrow = require_pyarrow("documents=True")
    origin = [
        arrow.repeat(arrow.scalar(name), len(block)),
        arrow.array(block.numbers),
        arrow.repeat(arrow.scalar(block.group, arrow.int32()), len(block)),
    ]
    columns = [] if block.columns is None else block.columns.columns
    return arrow.table([*origin, *columns], schema=schema)


def parse_origin(row: Mapping[str, Any]) -> DocumentSource:
    """Returns the source in a row of the documents table."""
    columns = {name: value for name, value in row.items() if name not in ORIGIN_NAMES}
    return DocumentSource(row["source"], row["position"], row["group"], columns)
