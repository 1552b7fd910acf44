"""Columns of other packages: Arrow's capsule interface, which pyarrow, polars, pandas, DuckDB and others speak."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias


class ArrowArray(Protocol):
    """An array, for example pyarrow.Array."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...


class ArrowStream(Protocol):
    """Arrays of one type, for example pyarrow.ChunkedArray or polars.Series."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


ArrowColumn: TypeAlias = ArrowArray | ArrowStream


def of_same_package(result: Any, given: object) -> Any:
    """Convert a result to the caller's kind of column: pyarrow's if the input was pyarrow's, else unchanged."""
    if type(given).__module__.partition(".")[0] != "pyarrow":
        return result
    import pyarrow

    return pyarrow.array(result) if hasattr(result, "__arrow_c_array__") else pyarrow.chunked_array(result)
