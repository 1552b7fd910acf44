"""The engine quicktok, which returns lists, and arrays for batches. It contains its vocabularies."""

from __future__ import annotations

import numpy as np

from ..cases import Vocabulary
from .base import Adapter, Engine


def load(vocabulary: Vocabulary) -> Adapter:
    import quicktok

    tokenizer = quicktok.get_encoding(vocabulary.name)
    return Adapter(
        encode=tokenizer.encode_ordinary,
        encode_batch=tokenizer.encode_batch,
        split_rows=lambda batch: np.split(batch[0], batch[1][1:-1]),
        count=tokenizer.count,
        decode=tokenizer.decode,
        decode_bytes=tokenizer.decode_bytes,
        decode_batch=tokenizer.decode_batch,
    )


ENGINE = Engine("quicktok-v1", "quicktok", load)
