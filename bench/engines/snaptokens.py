"""The engine snaptokens, which reads a tokenizer.json."""

from __future__ import annotations

import numpy as np

from ..cases import Vocabulary
from ..simd import AVX2, AVX512
from .base import Adapter, Engine


def load(vocabulary: Vocabulary) -> Adapter:
    import snaptokens

    tokenizer = snaptokens.Tokenizer.from_file(str(vocabulary.json_path))
    return Adapter(
        encode=lambda text: tokenizer.encode(text).ids,
        encode_batch=lambda texts, threads: tokenizer.encode_batch_flat(
            texts
        ),  # the package's thread pool has a fixed number of threads
        split_rows=lambda flat: np.split(np.frombuffer(flat[0], np.uint32), np.frombuffer(flat[1], np.uint64)[1:-1]),
        decode=tokenizer.decode,
        decode_batch=tokenizer.decode_batch,
    )


ENGINE = Engine("snaptokens", "snaptokens", load, simd=(AVX512, AVX2))
