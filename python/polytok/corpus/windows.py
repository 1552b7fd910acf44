"""Windows of tokens, for training a model of a fixed context length."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..checked import checked
from ..errors import ArgumentError
from ..keywords import keyword

if TYPE_CHECKING:
    from .dataset import Dataset


class Windows:
    """The windows of a dataset; see `Dataset.windows`.

    Window i consists of the ids ``i * stride`` to ``i * stride + length - 1`` of the concatenated documents.
    """

    def __init__(self, dataset: Dataset, length: int, stride: int) -> None:
        """Stores the dataset, length and stride. Raises `ArgumentError` for a length or stride less than 1."""
        for name, value in (("length", length), ("stride", stride)):
            if operator.index(value) < 1:
                raise ArgumentError(f"{keyword(f'{name}={value}')} is too small: it must be at least 1")
        self.dataset, self.length, self.stride = dataset, length, stride

    def __len__(self) -> int:
        return max((self.dataset.tokens - self.length) // self.stride + 1, 0)

    def __getitem__(self, index: int | slice) -> npt.NDArray[Any]:
        """Returns window ``index``, of shape (length,); or for a slice, several windows, of shape (windows, length).

        Ids have the dtype of the dataset. A single window is copied only if it crosses the end of a shard; several
        windows are always copied. Raises `IndexError` for a window that does not exist.
        """
        if isinstance(index, slice):
            return self.take(range(*index.indices(len(self))))
        if not -len(self) <= index < len(self):
            raise IndexError(f"window {index} is out of range: there are {len(self)} windows")
        start = (index % len(self)) * self.stride
        return self.dataset.ids(start, start + self.length)

    @checked()
    def take(self, indices: Iterable[int]) -> npt.NDArray[Any]:
        """Returns copies of the windows with these indices, in this order: a batch of shape (windows, length)."""
        rows = [self[operator.index(index)] for index in indices]
        return np.stack(rows) if rows else np.empty((0, self.length), dtype=self.dataset.dtype)

    def __repr__(self) -> str:
        return f"<{len(self)} windows of {self.length} tokens, one every {self.stride}, of {self.dataset!r}>"
