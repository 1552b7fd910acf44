"""The twin of llama.cpp in polytok.reference, which returns the expected ids of GGUF files and is not timed."""

from __future__ import annotations

from ..cases import LLAMA_CPP_NAME, Vocabulary
from .base import Adapter, Engine


def load(vocabulary: Vocabulary) -> Adapter:
    from polytok.reference import gguf, llama_cpp

    twin = llama_cpp.LlamaCpp(gguf.parse(vocabulary.path.read_bytes()))
    return Adapter(
        encode=lambda text: twin.tokenize(text.encode()),
        decode=lambda ids: twin.detokenize(ids).decode("utf-8", "replace"),
    )


ENGINE = Engine(LLAMA_CPP_NAME, "polytok", load, distribution="polytok", is_timed=False)
