"""tiktoken_ext.openai_public: OpenAI's encodings, which are read from tiktoken's cache or downloaded."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ...formats import gpt2_pair
from ...formats.tiktoken_known import GPT2, KNOWN, KnownFile
from ...patterns import R50K as r50k_pat_str
from . import load

__all__ = [
    "ENCODING_CONSTRUCTORS",
    "ENDOFPROMPT",
    "ENDOFTEXT",
    "FIM_MIDDLE",
    "FIM_PREFIX",
    "FIM_SUFFIX",
    "cl100k_base",
    "gpt2",
    "o200k_base",
    "o200k_harmony",
    "p50k_base",
    "p50k_edit",
    "r50k_base",
    "r50k_pat_str",
]

ENDOFTEXT = "<|endoftext|>"
FIM_PREFIX = "<|fim_prefix|>"
FIM_MIDDLE = "<|fim_middle|>"
FIM_SUFFIX = "<|fim_suffix|>"
ENDOFPROMPT = "<|endofprompt|>"

_ENCODER_SHA256 = "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783"
_SIZES = {"gpt2": 50257, "r50k_base": 50257, "p50k_base": 50281}
_FILES = {file.name: file for file in KNOWN if file.address}


def _constructed(file: KnownFile, ranks: dict[bytes, int]) -> dict[str, Any]:
    size = {"explicit_n_vocab": _SIZES[file.name]} if file.name in _SIZES else {}
    return {
        "name": file.name,
        **size,
        "pat_str": file.scheme.pattern,
        "mergeable_ranks": ranks,
        "special_tokens": dict(file.scheme.special_tokens),
    }


def _from_rank_file(name: str) -> dict[str, Any]:
    file = _FILES[name]
    return _constructed(file, load.load_tiktoken_bpe(file.address or "", expected_hash=file.sha256))


def gpt2() -> dict[str, Any]:
    """Returns the arguments of gpt2's ``Encoding``.

    r50k_base has the same ranks. If only its file is in the cache, it is read, and nothing is downloaded.
    """
    address = GPT2.address or ""
    encoder_address = address.replace(gpt2_pair.MERGES_FILE, gpt2_pair.ENCODER_FILE)
    r50k = _FILES["r50k_base"]
    is_cached = load.is_cached(address, GPT2.sha256) and load.is_cached(encoder_address, _ENCODER_SHA256)
    if not is_cached and load.is_cached(r50k.address or "", r50k.sha256):
        ranks = load.load_tiktoken_bpe(r50k.address or "", expected_hash=r50k.sha256)
    else:
        ranks = load.data_gym_to_mergeable_bpe_ranks(
            vocab_bpe_file=address,
            encoder_json_file=encoder_address,
            vocab_bpe_hash=GPT2.sha256,
            encoder_json_hash=_ENCODER_SHA256,
        )
    return _constructed(GPT2, ranks)


r50k_base = partial(_from_rank_file, "r50k_base")
p50k_base = partial(_from_rank_file, "p50k_base")
p50k_edit = partial(_from_rank_file, "p50k_edit")
cl100k_base = partial(_from_rank_file, "cl100k_base")
o200k_base = partial(_from_rank_file, "o200k_base")
o200k_harmony = partial(_from_rank_file, "o200k_harmony")

ENCODING_CONSTRUCTORS: dict[str, Callable[[], dict[str, Any]]] = {
    "gpt2": gpt2,
    "r50k_base": r50k_base,
    "p50k_base": p50k_base,
    "p50k_edit": p50k_edit,
    "cl100k_base": cl100k_base,
    "o200k_base": o200k_base,
    "o200k_harmony": o200k_harmony,
}
