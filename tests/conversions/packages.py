"""Reads written files with each format's own package, and encodes texts without special tokens."""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from polytok.tokenizer import Tokenizer

Encode = Callable[[list[str]], list[list[int]]]


def sentencepiece(data: bytes, _: Tokenizer) -> Encode:
    package: Any = importlib.import_module("sentencepiece")
    processor = package.SentencePieceProcessor(model_proto=data)
    return lambda texts: [list(ids) for ids in processor.encode(texts)]


def huggingface(data: bytes, _: Tokenizer) -> Encode:
    package: Any = importlib.import_module("tokenizers")
    tokenizer = package.Tokenizer.from_str(data.decode())
    tokenizer.encode_special_tokens = True
    return lambda texts: [encoding.ids for encoding in tokenizer.encode_batch(texts, add_special_tokens=False)]


def tiktoken(data: bytes, source: Tokenizer) -> Encode:
    package: Any = importlib.import_module("tiktoken")
    loader: Any = importlib.import_module("tiktoken.load")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ranks.tiktoken"
        path.write_bytes(data)
        ranks = loader.load_tiktoken_bpe(str(path))
    pattern = source.spec.split[0].pattern if source.spec.split else r"[\s\S]+"  # type: ignore[union-attr]
    encoding = package.Encoding("written", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    return lambda texts: [encoding.encode_ordinary(text) for text in texts]


PACKAGE_ENCODERS: Mapping[str, Callable[[bytes, Tokenizer], Encode]] = {
    "sentencepiece": sentencepiece,
    "huggingface": huggingface,
    "tiktoken": tiktoken,
}
"""The encoders by format. Other formats have no package that encodes without a model."""


def gguf_texts(data: bytes) -> list[bytes]:
    """Returns the tokens that the gguf package reads from a GGUF file."""
    package: Any = importlib.import_module("gguf")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "written.gguf"
        path.write_bytes(data)
        # The package slices a mapped file for each token, which takes three times as long as slicing an array.
        with mock.patch.object(np, "memmap", lambda path, mode: np.fromfile(path, np.uint8)):
            field = package.GGUFReader(path).fields["tokenizer.ggml.tokens"]
        return [bytes(field.parts[index]) for index in field.data]
