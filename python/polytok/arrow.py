"""Types for columns of other packages (pyarrow, polars, pandas, DuckDB), which support Arrow's capsule interface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    # The modules with columns import pyarrow from here: it has no types, and type checkers report each such import.
    import pyarrow as pyarrow  # type: ignore[import-not-found, import-untyped, unused-ignore]


class ArrowArray(Protocol):
    """An Arrow array, for example pyarrow.Array."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...


class ArrowStream(Protocol):
    """A stream of Arrow arrays of one type, for example pyarrow.ChunkedArray or polars.Series."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


ArrowColumn: TypeAlias = ArrowArray | ArrowStream


def match_package_of(result: Any, column: object) -> Any:
    """Converts a result to pyarrow if the caller's column is a pyarrow object; else returns the result unchanged."""
    if type(column).__module__.partition(".")[0] != "pyarrow":
        return result
    import pyarrow  # type: ignore[import-not-found, import-untyped, unused-ignore]

    return pyarrow.array(result) if hasattr(result, "__arrow_c_array__") else pyarrow.chunked_array(result)
