"""The engine kitoken, which reads all formats except RWKV's and decodes to bytes."""

from __future__ import annotations

from typing import Any

from ..cases import Vocabulary
from ..simd import AVX2, AVX512
from .base import Adapter, Engine


def _tokenizer(vocabulary: Vocabulary) -> Any:
    from kitoken import Kitoken

    if vocabulary.is_sentencepiece:
        return Kitoken.from_sentencepiece_file(str(vocabulary.path))
    if vocabulary.path.suffix == ".tiktoken":
        return Kitoken.from_tiktoken_file(str(vocabulary.path))
    return Kitoken.from_tokenizers_file(str(vocabulary.json_path))


def load(vocabulary: Vocabulary) -> Adapter:
    tokenizer = _tokenizer(vocabulary)
    decode = tokenizer.decode
    return Adapter(
        encode=tokenizer.encode,
        decode=lambda ids: decode(ids).decode("utf-8", "replace"),
        decode_bytes=decode,
    )


ENGINE = Engine("kitoken", "kitoken", load, simd=(AVX512, AVX2))
