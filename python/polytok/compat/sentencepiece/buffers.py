"""Arrays of ids, as sentencepiece returns them: read-only, over a buffer that knows its address."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    Ints = array[int]
else:
    Ints = array


class VectorBuffer(Ints):
    """sentencepiece's buffer, which holds the ids of an array."""

    def data_address(self) -> int:
        """Returns the address of the first id."""
        address: int = np.asarray(memoryview(self)).__array_interface__["data"][0]
        return address


def read_only_array(ids: Sequence[int]) -> npt.NDArray[np.int32]:
    """Returns ids as a read-only array of 32 bits.

    >>> read_only_array([3, 1]).flags.writeable
    False
    """
    return np.asarray(memoryview(VectorBuffer("i", ids)).toreadonly())
