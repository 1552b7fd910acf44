"""The engine gigatoken, which returns numpy arrays and decodes to bytes.

The adapter converts the arrays to lists, and the decoded bytes to texts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..cases import Vocabulary
from ..simd import AVX2, AVX512
from .base import Adapter, Engine


def _tokenizer(vocabulary: Vocabulary) -> Any:
    import gigatoken

    if vocabulary.is_sentencepiece:
        return gigatoken.Tokenizer.from_sentencepiece(vocabulary.path)
    if vocabulary.path.suffix == ".tiktoken":  # gigatoken has split patterns only for OpenAI's rank files
        return gigatoken.Tokenizer.from_tiktoken(vocabulary.path)
    return gigatoken.Tokenizer.from_json(vocabulary.json_path.read_text(encoding="utf-8"))


def load(vocabulary: Vocabulary) -> Adapter:
    tokenizer = _tokenizer(vocabulary)
    encode, decode = tokenizer.encode, tokenizer.decode
    return Adapter(
        encode=lambda text: encode(text).tolist(),
        encode_array=encode,
        encode_batch=lambda texts, threads: tokenizer.encode_batch(texts, parallel=threads > 1),
        to_native_ids=lambda ids: np.array(ids, dtype=np.uint32),
        decode=lambda ids: decode(ids).decode("utf-8", "replace"),
        decode_bytes=decode,
    )


ENGINE = Engine("gigatoken", "gigatoken", load, simd=(AVX512, AVX2))
