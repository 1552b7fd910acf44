"""ThreadPool."""

from __future__ import annotations


class ThreadPool:
    """sentencepiece.ThreadPool: a number of threads for batches."""

    def __init__(self, num_threads: int, /) -> None:
        self._num_threads = int(num_threads)

    def num_threads(self) -> int:
        """Returns the number of threads."""
        return self._num_threads
