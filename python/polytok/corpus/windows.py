"""Windows of tokens, for training a model of a fixed context length."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import ArgumentError

if TYPE_CHECKING:
    from .dataset import Dataset


class Windows:
    """Window i is tokens ``i * stride`` to ``i * stride + length`` of a dataset; see `Dataset.windows`."""

    def __init__(self, dataset: Dataset, length: int, stride: int) -> None:
        """Raises `ArgumentError` for a length or stride less than 1."""
        for name, value in (("length", length), ("stride", stride)):
            if operator.index(value) < 1:
                raise ArgumentError(f"{name}={value} is less than 1")
        self.dataset, self.length, self.stride = dataset, length, stride

    def __len__(self) -> int:
        return max((self.dataset.tokens - self.length) // self.stride + 1, 0)

    def __getitem__(self, index: int | slice) -> npt.NDArray[Any]:
        """A window, of shape (length,), copied only if it crosses from one shard to the next; or several, copied, of
        shape (windows, length). Raises `IndexError` for a window that does not exist.
        """
        if isinstance(index, slice):
            return self.take(range(*index.indices(len(self))))
        if not -len(self) <= index < len(self):
            raise IndexError(f"window {index} of {len(self)}")
        start = (index % len(self)) * self.stride
        return self.dataset.ids(start, start + self.length)

    def take(self, indices: Iterable[int]) -> npt.NDArray[Any]:
        """Windows in any order, copied: a batch, of shape (windows, length)."""
        rows = [self[operator.index(index)] for index in indices]
        return np.stack(rows) if rows else np.empty((0, self.length), dtype=self.dataset.dtype)

    def __repr__(self) -> str:
        return f"<{len(self)} windows of {self.length} tokens, one every {self.stride}, of {self.dataset!r}>"
