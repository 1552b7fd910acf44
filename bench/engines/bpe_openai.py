"""The engine bpe-openai, which contains its vocabularies."""

from __future__ import annotations

from ..cases import Vocabulary
from ..simd import AVX2
from .base import Adapter, Engine


def load(vocabulary: Vocabulary) -> Adapter:
    import bpe_openai

    encoding = bpe_openai.get_encoding(vocabulary.name)
    return Adapter(
        encode=encoding.encode_ordinary,
        encode_batch=lambda texts, threads: encoding.encode_ordinary_batch(texts, num_threads=threads),
        decode=encoding.decode,
        decode_bytes=encoding.decode_bytes,
        decode_batch=encoding.decode_batch,
    )


ENGINE = Engine("bpe-openai", "bpe_openai", load, simd=(AVX2,))
