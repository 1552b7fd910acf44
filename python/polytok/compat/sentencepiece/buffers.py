"""Arrays of ids, as sentencepiece returns them: read-only, over a buffer that knows its address."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt


class VectorBuffer(np.ndarray[Any, np.dtype[np.int32]]):
    """sentencepiece's buffer behind an array of ids."""

    def data_address(self) -> int:
        """Returns the address of the first id."""
        address: int = self.__array_interface__["data"][0]
        return address


def read_only_array(ids: Sequence[int] | npt.NDArray[Any]) -> npt.NDArray[np.int32]:
    """Returns ids as a read-only array of 32 bits.

    >>> read_only_array([3, 1]).flags.writeable
    False
    """
    buffer = np.asarray(ids).astype(np.int32).view(VectorBuffer)
    buffer.flags.writeable = False
    return np.asarray(buffer.data)
