"""Texts that arrive in chunks or change: the definitions, which encode the whole text each time.

The functions need only `Encode`, a function that encodes a text, so they also check tokenizers that have no twin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

Encode: TypeAlias = Callable[[bytes], list[int]]
"""Returns the ids of a text."""


class StreamEncoder:
    """Encodes a text that arrives in chunks: all ids are returned at its end.

    >>> encoder = StreamEncoder(list)
    >>> encoder.push(b"a"), encoder.push(b"b"), encoder.finish()
    ([], [], [97, 98])
    """

    def __init__(self, encode: Encode) -> None:
        self.encode = encode
        self.text = b""

    def push(self, text: bytes) -> list[int]:
        """Adds a chunk of the text; returns no ids."""
        self.text += text
        return []

    def finish(self) -> list[int]:
        """Returns the ids of the text, and starts another text."""
        text, self.text = self.text, b""
        return self.encode(text)


class IncrementalText:
    """A text and its ids. `append`, `set_text` and `truncate` return the number of ids that stay, and the ids after
    them.

    >>> text = IncrementalText(list)
    >>> text.append("abc"), text.set_text("abx")
    ((0, [97, 98, 99]), (2, [120]))
    """

    def __init__(self, encode: Encode, text: str = "") -> None:
        self.encode = encode
        self.text = text
        self.ids = encode(text.encode())

    def append(self, text: str) -> tuple[int, list[int]]:
        """Appends text."""
        return self.set_text(self.text + text)

    def truncate(self, characters: int) -> tuple[int, list[int]]:
        """Keeps only the first characters."""
        return self.set_text(self.text[:characters])

    def set_text(self, text: str) -> tuple[int, list[int]]:
        """Replaces the text."""
        ids = self.encode(text.encode())
        kept = common_start(self.ids, ids)
        self.text, self.ids = text, ids
        return kept, ids[kept:]

    def copy(self) -> IncrementalText:
        """Returns a copy that changes independently."""
        return IncrementalText(self.encode, self.text)


def stable_prefix(ids: Sequence[int], text: bytes, later_texts: Iterable[bytes], encode: Encode) -> int:
    """Returns the number of leading ids that none of some later texts changes, if ``text`` is the text of the ids.

    No list has all later texts, so this is an upper bound of `Tokenizer.stable_prefix`.

    >>> stable_prefix([1, 1], b"aa", [b"", b"a"], lambda text: [1] * (len(text) % 3))
    0
    """
    return min(common_start(ids, encode(text + later)) for later in (b"", *later_texts))


def common_start(one: Sequence[int], other: Sequence[int]) -> int:
    """Returns the number of equal ids at the start of two lists.

    >>> common_start([1, 2, 3], [1, 2, 4, 5])
    2
    """
    differences = (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(differences, min(len(one), len(other)))
