"""Adapters, one file for each package, and the table that names them.

Packages are imported when a vocabulary is loaded, because each engine runs in a process of its own that holds no other.
No network: every engine reads the same file as polytok, the tokenizer.json of the same vocabulary, or what it brings
along; the ids tell whether that is the same.
"""

from __future__ import annotations

from . import (
    bpe_openai,
    gigatoken,
    kitoken,
    polytok,
    pyrwkv_tokenizer,
    quicktok,
    sentencepiece,
    snaptokens,
    tiktoken,
    tokenizers,
)
from .base import Adapter, Engine

ENGINES = {
    engine.name: engine
    for engine in (
        polytok.ENGINE,
        polytok.UNCACHED_ENGINE,
        gigatoken.ENGINE,
        quicktok.ENGINE,
        snaptokens.ENGINE,
        bpe_openai.ENGINE,
        tiktoken.ENGINE,
        tokenizers.ENGINE,
        kitoken.ENGINE,
        sentencepiece.ENGINE,
        pyrwkv_tokenizer.ENGINE,
    )
}

__all__ = ["ENGINES", "Adapter", "Engine"]
