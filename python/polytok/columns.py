"""Columns of numbers in a Spec: numpy arrays for people, and memoryviews for formats.

A format passes each column as a memoryview, and the engine reads memoryviews. A column becomes a numpy array when a
program first reads it. Therefore loading a file and encoding to lists does not import numpy, which takes longer than
loading most files.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from enum import IntEnum

    import numpy as np
    import numpy.typing as npt

    ArrayOrNone = TypeVar("ArrayOrNone", bound="npt.NDArray[np.generic] | None")
else:
    ArrayOrNone = TypeVar("ArrayOrNone")

_REQUIRED: Any = object()


class Column(Generic[ArrayOrNone]):
    """A field of a dataclass that is a numpy array.

    The field can be set to an array or to a memoryview, which becomes an array of the same memory when the field is
    first read. With ``width``, the array has two dimensions, with ``width`` numbers in each row.
    """

    def __init__(self, *, default: ArrayOrNone = _REQUIRED, width: int | None = None) -> None:
        self._default = default
        self._width = width

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object | None, owner: type) -> ArrayOrNone:
        if instance is None:
            return self._default_of_field()
        try:
            value = instance.__dict__[self._name]
        except KeyError:
            raise AttributeError(self._name) from None
        if isinstance(value, memoryview):
            import numpy as np

            numbers: Any = np.asarray(value)
            value = instance.__dict__[self._name] = numbers if self._width is None else numbers.reshape(-1, self._width)
        return value  # type: ignore[no-any-return]

    def __set__(self, instance: object, value: ArrayOrNone | memoryview[Any]) -> None:
        instance.__dict__[self._name] = value

    def _default_of_field(self) -> ArrayOrNone:
        """Returns the default; raises AttributeError if the field has no default, so that `hasattr` returns False."""
        if self._default is _REQUIRED:
            raise AttributeError(self._name)
        return self._default


def buffer(owner: object, name: str) -> memoryview[Any]:
    """Returns the numbers of a column, without importing numpy. Merges can be a flat column of three numbers each."""
    return memoryview(vars(owner)[name])


def has_kind(column: npt.NDArray[np.uint8], *kinds: IntEnum) -> npt.NDArray[np.bool_]:
    """Returns for each row of a column whether it has one of the kinds.

    A comparison with the member of an IntEnum itself converts the column to int64, which is slow; if the system refuses
    the memory for that, numpy 2.4 ends the process.
    """
    has_any: npt.NDArray[np.bool_] = column == int(kinds[0])
    for kind in kinds[1:]:
        has_any |= column == int(kind)
    return has_any


def column_of(typecode: str, numbers: Iterable[float] | bytes, *, swaps_bytes: bool = False) -> memoryview[Any]:
    """Returns numbers as a new column; ``typecode`` is their type, as in the module `array`.

    ``numbers`` can be the bytes of the column. With ``swaps_bytes``, the bytes of each number are swapped.
    """
    if isinstance(numbers, memoryview) and numbers.format == typecode:
        numbers = numbers.tobytes()
    column: array[Any] = array(typecode, numbers)
    if swaps_bytes:
        column.byteswap()
    return memoryview(column)
