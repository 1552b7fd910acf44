"""Counts how often each id occurs in encoded texts: `count_ids`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from .checked import checked
from .checks import iterable, shown
from .loading import AnyTokenizer, as_tokenizer
from .options import Options
from .reading import InputOptions
from .reading.files import Part
from .training import TrainingReport
from .training.inputs import InputStream
from .values import Text

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


@checked()
def count_ids(
    tokenizer: AnyTokenizer, texts: os.PathLike[str] | Iterable[Any], *, options: Options | None = None
) -> npt.NDArray[np.int64]:
    """Encodes texts and returns how often each id occurs, as an array of int64 with the id as the index.

    ``tokenizer`` is a `polytok.Tokenizer`, or what `polytok.load` accepts. ``texts`` are texts, `pathlib.Path`, open
    files or records, as in `polytok.train`.

    >>> import polytok
    >>> tokenizer = polytok.load("default")
    >>> counts = count_ids(tokenizer, ["the cat", "on the mat"])
    >>> int(counts[tokenizer.piece_to_id(" the")]), len(counts)
    (1, 32768)
    """
    import numpy as np

    if isinstance(texts, (str, bytes)):
        raise TypeError(f"texts={shown(texts)} is a single text: pass a list, or a pathlib.Path to read a file")
    if not isinstance(texts, os.PathLike):
        iterable("texts", texts, "texts")
    tokenizer = as_tokenizer(tokenizer)
    counts = np.zeros(tokenizer.vocab_size, dtype=np.int64)
    for batch in text_batches(texts):
        ids = tokenizer.encode_batch(batch, options=options).ids
        counts += np.bincount(ids, minlength=len(counts))
    return counts


def text_batches(texts: os.PathLike[str] | Iterable[Any]) -> Iterator[list[Text]]:
    """Yields the texts in batches."""
    for batch in InputStream(texts, InputOptions(), TrainingReport(), "keep"):
        if not isinstance(batch, Part):  # without ``in_parts``, there are no parts
            yield list(batch)
