"""The engine polytok, with and without its cache."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal, cast

import numpy as np

from ..cases import OWN_ENGINE_NAME, UNCACHED_ENGINE_NAME, Vocabulary
from ..simd import AVX2, AVX512
from .base import Adapter, Engine, do_nothing

if TYPE_CHECKING:
    from polytok import Tokenizer
    from polytok.values import SimdLevel


SIMD_LEVEL_VARIABLE = "POLYTOK_BENCH_SIMD_LEVEL"
"""The environment variable that names polytok's SIMD level in all processes of a benchmark."""


def selected_level() -> SimdLevel | Literal["auto"]:
    """Returns the SIMD level that the benchmark measures."""
    return cast("SimdLevel", os.environ.get(SIMD_LEVEL_VARIABLE, "auto"))


def load(vocabulary: Vocabulary) -> Adapter:
    import polytok

    polytok.set_simd_level(selected_level())
    return create_adapter(polytok.load(vocabulary.path))


def load_uncached(vocabulary: Vocabulary) -> Adapter:
    """Loads a vocabulary without a cache. The adapter has only `encode_array`, the function that uses the cache
    most."""
    import polytok

    polytok.set_simd_level(selected_level())
    tokenizer = polytok.load(vocabulary.path)
    tokenizer.cache_limit = 0
    return Adapter(warm_up=tokenizer.warm_up, encode_array=tokenizer.encode_array)


def create_adapter(tokenizer: Tokenizer) -> Adapter:
    dtype = tokenizer.encode_array("").dtype
    return Adapter(
        warm_up=getattr(tokenizer, "warm_up", do_nothing),  # older builds lack this method
        encode=tokenizer.encode,
        encode_array=tokenizer.encode_array,
        encode_batch=lambda texts, threads: tokenizer.encode_batch(texts, threads=threads),
        count=tokenizer.count,
        encode_offsets=tokenizer.spans,
        get_token_ids=lambda spans: spans.ids,
        to_native_ids=lambda ids: np.array(ids, dtype),
        decode=tokenizer.decode,
        decode_bytes=tokenizer.decode_bytes,
        decode_batch=tokenizer.decode_batch,
    )


SIMD = (AVX512, AVX2)

ENGINE = Engine(OWN_ENGINE_NAME, "polytok", load, simd=SIMD)
UNCACHED_ENGINE = Engine(UNCACHED_ENGINE_NAME, "polytok", load_uncached, distribution="polytok", simd=SIMD)
