"""Adapters: a vocabulary to a function from text to ids, one for each engine and kind of output.

Packages are imported inside, because each engine runs in a process of its own that holds no other. No network: a
tiktoken vocabulary comes from the same rank file as polytok's, with the pattern and special tokens of tiktoken's own
definition.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .cases import Vocabulary

Encode = Callable[[str], Sequence[int]]


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine: its name in the tables, the module and distribution it comes from, and how to load a vocabulary."""

    name: str
    module: str
    distribution: str
    load: Callable[[Vocabulary], Encode]

    @property
    def version(self) -> str | None:
        """The installed version, or None if it is not installed."""
        if importlib.util.find_spec(self.module) is None:
            return None
        try:
            return importlib.metadata.version(self.distribution)
        except importlib.metadata.PackageNotFoundError:
            return str(getattr(importlib.import_module(self.module), "__version__", "?"))


def _polytok(vocabulary: Vocabulary) -> Encode:
    import polytok

    return polytok.load(vocabulary.path).encode


def _polytok_numpy(vocabulary: Vocabulary) -> Any:
    import polytok

    return polytok.load(vocabulary.path).encode_array


def _sentencepiece(vocabulary: Vocabulary) -> Any:
    import sentencepiece

    return sentencepiece.SentencePieceProcessor(model_file=str(vocabulary.path)).encode


def _tiktoken_encoding(vocabulary: Vocabulary) -> Any:
    import tiktoken
    from tiktoken_ext import openai_public  # type: ignore[import-untyped]

    os.environ["TIKTOKEN_CACHE_DIR"] = ""  # no copy of the file elsewhere
    load_ranks = openai_public.load_tiktoken_bpe
    openai_public.load_tiktoken_bpe = lambda *_, **__: load_ranks(str(vocabulary.path))
    return tiktoken.Encoding(**openai_public.ENCODING_CONSTRUCTORS[vocabulary.name]())


def _tiktoken(vocabulary: Vocabulary) -> Any:
    return _tiktoken_encoding(vocabulary).encode_ordinary


def _tiktoken_numpy(vocabulary: Vocabulary) -> Any:
    encode = _tiktoken_encoding(vocabulary).encode_to_numpy
    return lambda text: encode(text, disallowed_special=())


def _pyrwkv(vocabulary: Vocabulary) -> Any:
    import pyrwkv_tokenizer  # type: ignore[import-untyped]

    return pyrwkv_tokenizer.RWKVTokenizer().encode  # it brings its vocabulary along; the ids tell that it is this one


ENGINES = {
    engine.name: engine
    for engine in (
        Engine("polytok", "polytok", "polytok", _polytok),
        Engine("polytok numpy", "polytok", "polytok", _polytok_numpy),
        Engine("sentencepiece", "sentencepiece", "sentencepiece", _sentencepiece),
        Engine("tiktoken", "tiktoken", "tiktoken", _tiktoken),
        Engine("tiktoken numpy", "tiktoken", "tiktoken", _tiktoken_numpy),
        Engine("pyrwkv-tokenizer", "pyrwkv_tokenizer", "pyrwkv-tokenizer", _pyrwkv),
    )
}


def is_numpy(name: str) -> bool:
    """Whether an engine's ids come as a numpy array; by its name, so that a table can be made without it."""
    return name.endswith(" numpy")
