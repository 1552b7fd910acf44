"""The engine pyrwkv-tokenizer, which contains its vocabulary."""

from __future__ import annotations

from ..cases import Vocabulary
from ..simd import AVX2
from .base import Adapter, Engine


def load(vocabulary: Vocabulary) -> Adapter:
    import pyrwkv_tokenizer

    tokenizer = pyrwkv_tokenizer.RWKVTokenizer()
    return Adapter(
        encode=tokenizer.encode,
        encode_batch=lambda texts, threads: tokenizer.encode_batch(texts),  # the package sets the threads
        decode=tokenizer.decode,
    )


ENGINE = Engine("pyrwkv-tokenizer", "pyrwkv_tokenizer", load, simd=(AVX2,), spoils_caches=True)
