"""Adapters, one file for each package, and the table that names them.

Packages are imported when a vocabulary is loaded, because each engine runs in a process of its own that holds no other.
No network: every engine reads the same file as polytok, the tokenizer.json or SentencePiece model of the same
vocabulary, or a copy that is part of the package; the check of ids shows whether that is the same.
"""

from __future__ import annotations

from . import (
    bpe_openai,
    gigatoken,
    kitoken,
    llama_cpp,
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
        llama_cpp.ENGINE,
    )
}

__all__ = ["ENGINES", "Adapter", "Engine"]
