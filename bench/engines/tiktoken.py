"""The engine tiktoken, which reads the vocabulary's file with the pattern of tiktoken or of the model's authors."""

from __future__ import annotations

import os
from typing import Any

from ..cases import Vocabulary
from ..simd import AVX2
from .base import Adapter, Engine

PATTERNS = {
    "llama3": (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
        r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    )
}
"""The split patterns of vocabularies that tiktoken does not define."""


def _encoding(vocabulary: Vocabulary) -> Any:
    import tiktoken
    from tiktoken_ext import openai_public

    os.environ["TIKTOKEN_CACHE_DIR"] = ""  # prevents tiktoken from copying the file to a cache
    load_ranks = openai_public.load_tiktoken_bpe
    if pattern := PATTERNS.get(vocabulary.name):
        ranks = load_ranks(str(vocabulary.path))
        return tiktoken.Encoding(vocabulary.name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    openai_public.load_tiktoken_bpe = lambda *_, **__: load_ranks(str(vocabulary.path))
    return tiktoken.Encoding(**openai_public.ENCODING_CONSTRUCTORS[vocabulary.name]())


def load(vocabulary: Vocabulary) -> Adapter:
    encoding = _encoding(vocabulary)
    return Adapter(
        encode=encoding.encode_ordinary,
        encode_array=lambda text: encoding.encode_to_numpy(text, disallowed_special=()),
        encode_batch=lambda texts, threads: encoding.encode_ordinary_batch(texts, num_threads=threads),
        decode=encoding.decode,
        decode_bytes=encoding.decode_bytes,
        decode_batch=lambda batch: encoding.decode_batch(batch, num_threads=1),
    )


ENGINE = Engine("tiktoken", "tiktoken", load, simd=(AVX2,))
