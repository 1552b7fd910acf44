"""The engine `tokenizers` of Hugging Face, which here adds no special tokens.

Texts are encoded with `encode_batch_fast`, which computes no offsets.
"""

from __future__ import annotations

from ..cases import Vocabulary
from ..simd import AVX2
from .base import Adapter, Engine


def load(vocabulary: Vocabulary) -> Adapter:
    import tokenizers

    tokenizer = tokenizers.Tokenizer.from_file(str(vocabulary.json_path))
    encode_fast = tokenizer.encode_batch_fast
    return Adapter(
        encode=lambda text: encode_fast([text], add_special_tokens=False)[0].ids,
        encode_batch=lambda texts, threads: encode_fast(
            texts, add_special_tokens=False
        ),  # the package's thread pool has a fixed number of threads
        split_rows=lambda encodings: [encoding.ids for encoding in encodings],
        encode_offsets=lambda text: tokenizer.encode(text, add_special_tokens=False),
        get_token_ids=lambda encoding: encoding.ids,
        decode=lambda ids: tokenizer.decode(ids, skip_special_tokens=False),
        decode_batch=lambda batch: tokenizer.decode_batch(batch, skip_special_tokens=False),
    )


ENGINE = Engine("tokenizers", "tokenizers", load, simd=(AVX2,))
