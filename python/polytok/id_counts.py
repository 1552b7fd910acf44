"""Counts how often each id occurs in encoded texts: `count_ids`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from .checked import checked
from .checks import iterable, shown
from .loading import AnyTokenizer, as_tokenizer
from .options import Options
from .values import Text

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_BATCH_TEXTS = 1024
_BATCH_LENGTH = 1 << 22


@checked()
def count_ids(
    tokenizer: AnyTokenizer, texts: Iterable[Text], *, options: Options | None = None
) -> npt.NDArray[np.int64]:
    """Encodes texts and returns how often each id occurs, as an array of int64 with the id as the index.

    ``tokenizer`` is a `polytok.Tokenizer`, or what `polytok.load` accepts.

    >>> import polytok
    >>> tokenizer = polytok.load("default")
    >>> counts = count_ids(tokenizer, ["the cat", "on the mat"])
    >>> int(counts[tokenizer.piece_to_id(" the")]), len(counts)
    (1, 32768)
    """
    import numpy as np

    if isinstance(texts, (str, bytes)):
        raise TypeError(f"texts={shown(texts)} is a single text: pass a list")
    iterable("texts", texts, "texts")
    tokenizer = as_tokenizer(tokenizer)
    counts = np.zeros(tokenizer.vocab_size, dtype=np.int64)
    for batch in _batches(texts):
        ids = tokenizer.encode_batch(batch, options=options).ids
        counts += np.bincount(ids, minlength=len(counts))
    return counts


def _batches(texts: Iterable[Text]) -> Iterator[list[Text]]:
    batch: list[Text] = []
    length = 0
    for text in texts:
        batch.append(text)
        length += len(text)
        if len(batch) == _BATCH_TEXTS or length >= _BATCH_LENGTH:
            yield batch
            batch, length = [], 0
    if batch:
        yield batch
