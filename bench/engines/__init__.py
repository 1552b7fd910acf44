"""Defines the table of all engines. Each package has an adapter in a file of its own.

A package is imported when a vocabulary is loaded, because each engine runs in its own process. No engine uses the
network. An engine reads the file that polytok reads, another file of the same vocabulary, or the copy of the vocabulary
in its package. The check of ids finds an engine that reads a different vocabulary.
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
