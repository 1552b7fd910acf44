"""The inputs and outputs of a tokenizer: texts, ids, tokens, batches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, overload

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Text: TypeAlias = str | bytes
Ids: TypeAlias = "Sequence[int] | Iterable[int] | npt.NDArray[np.integer]"
Special: TypeAlias = Literal["all"] | Set[str] | list[str] | tuple[str, ...] | Mapping[str, int]
"""``"all"``, or several texts. A single text is not a `Special`, so type checkers report it."""
IdArray: TypeAlias = "npt.NDArray[np.uint16] | npt.NDArray[np.uint32]"
Errors: TypeAlias = Literal["replace", "strict", "ignore"]
FormatName: TypeAlias = Literal[
    "ptok",
    "sentencepiece",
    "llama2c",
    "rwkv",
    "minbpe",
    "tiktoken",
    "tekken",
    "huggingface",
    "wordpiece",
    "bpe_files",
    "gguf",
]
"""The name of a format of tokenizer files."""
SimdLevel: TypeAlias = Literal["avx512", "avx2", "portable"]
"""The vector instructions of the engine. Each level includes the instructions of the levels after it."""


class Token(NamedTuple):
    """A token with its span in the original text.

    ``start`` and ``end`` are offsets in characters of the original text, ``byte_start`` and ``byte_end`` in bytes of
    its UTF-8. If a token covers only a part of a character, ``start`` and ``end`` span the whole character. ``piece``
    is the bytes of the vocabulary entry, or for unknown text the normalized text.
    """

    id: int
    piece: bytes
    start: int
    end: int
    byte_start: int
    byte_end: int


class Spans(NamedTuple):
    """The tokens of a text as columns, with a row for each token: the fields of a `Token` without the piece.

    ``ids`` is the array of `Tokenizer.encode_array`; the other columns are uint32. All columns have the shape
    (tokens,).
    """

    ids: IdArray
    starts: npt.NDArray[np.uint32]
    ends: npt.NDArray[np.uint32]
    byte_starts: npt.NDArray[np.uint32]
    byte_ends: npt.NDArray[np.uint32]


class Decoded(NamedTuple):
    """A decoded text with the characters of each id: the result of `Tokenizer.decode_with_offsets`.

    ``pieces`` has the text that each id adds; the pieces joined are ``text``. ``starts`` and ``ends`` are int64 arrays
    of shape (ids,), with the span of each id in characters of ``text``.
    """

    text: str
    pieces: list[str]
    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]


class Batch(Sequence["IdArray"]):
    """The ids of many texts in one array: the ids of text i are ``ids[offsets[i]:offsets[i + 1]]``.

    ``ids`` is uint16 if every id of the vocabulary fits, else uint32, of shape (tokens,); ``offsets`` is int64 of shape
    (texts + 1,). A batch is also a sequence with one array for each text; the arrays are not copies.

    >>> import polytok
    >>> batch = polytok.load("default").encode_batch(["one", "two words"])
    >>> len(batch), len(batch[0]) == len(batch.to_list()[0])
    (2, True)
    """

    __slots__ = ("ids", "offsets")

    def __init__(self, ids: IdArray, offsets: npt.NDArray[np.int64]) -> None:
        self.ids = ids
        self.offsets = offsets

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: int) -> IdArray: ...
    @overload
    def __getitem__(self, index: slice) -> list[IdArray]: ...
    def __getitem__(self, index: int | slice) -> IdArray | list[IdArray]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        row = index + len(self) if index < 0 else index
        if not 0 <= row < len(self):
            raise IndexError(f"row {index} is out of range: the batch has {len(self)} rows")
        return self.ids[self.offsets[row] : self.offsets[row + 1]]

    def to_list(self) -> list[list[int]]:
        """Returns the ids as a list of ints for each text."""
        return [row.tolist() for row in self]

    def __repr__(self) -> str:
        return f"Batch({len(self)} texts, {len(self.ids)} ids of {self.ids.dtype})"
