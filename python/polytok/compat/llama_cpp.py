"""The tokenizer interface of llama-cpp-python, run by polytok, for ``Llama(model_path, tokenizer=...)``.

This is no face that `install` puts in: llama_cpp runs models. The vocabulary of any format can be used, if its ids are
those of the model.

>>> import polytok
>>> from polytok.compat import llama_cpp
>>> tokenizer = llama_cpp.LlamaTokenizer(polytok.load("default"))
>>> tokenizer.tokenize(b"Hello, world")
[13335, 44, 10694]
>>> tokenizer.detokenize([13335, 44])
b'Hello,'
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..loading import load
from ..spec import Kind
from ..tokenizer import Tokenizer

__all__ = ["BaseLlamaTokenizer", "LlamaTokenizer"]


class BaseLlamaTokenizer(ABC):
    """llama_cpp.llama_tokenizer.BaseLlamaTokenizer."""

    @abstractmethod
    def tokenize(self, text: bytes, add_bos: bool = True, special: bool = True) -> list[int]:
        """Returns the ids of a text in UTF-8."""

    @abstractmethod
    def detokenize(
        self, tokens: Sequence[int], prev_tokens: Sequence[int] | None = None, special: bool = False
    ) -> bytes:
        """Returns the bytes of ids."""


class LlamaTokenizer(BaseLlamaTokenizer):
    """The tokenizer of a `polytok.Tokenizer`, of a file (GGUF, or any other format), or of a ``Llama``.

    The tensors of a GGUF file are not read. The ids and bytes are those of llama.cpp, except that a piece of more than
    32 bytes is returned, where llama-cpp-python's buffer is too small for it.
    """

    def __init__(self, llama: Any) -> None:
        if not isinstance(llama, Tokenizer):
            llama = load(Path(llama if isinstance(llama, (str, os.PathLike)) else llama.model_path))
        self._tokenizer: Tokenizer = llama
        self._bos = llama.bos_id
        self._pieces = llama.vocab_bytes()
        self._all_pieces = self._pieces.copy()
        table = llama.vocab()
        for id, piece, kind, special in zip(
            table.ids.tolist(), table.pieces, table.kinds.tolist(), table.special.tolist(), strict=True
        ):
            if special or kind == Kind.UNKNOWN:
                self._all_pieces[id] = piece

    @classmethod
    def from_ggml_file(cls, path: str) -> LlamaTokenizer:
        """Returns the tokenizer of a file."""
        return cls(path)

    def tokenize(self, text: bytes, add_bos: bool = True, special: bool = True) -> list[int]:
        """Returns the ids of a text in UTF-8. ``add_bos`` adds what the model's template has, also a last EOS;
        ``special`` recognizes special tokens in the text."""
        return self._tokenizer.encode(text, add_special=bool(add_bos), special="all" if special else ())

    def detokenize(
        self, tokens: Sequence[int], prev_tokens: Sequence[int] | None = None, special: bool = False
    ) -> bytes:
        """Returns the bytes of ids; those of special tokens are left out unless ``special`` is true. After BOS, the
        first space is removed. ``prev_tokens`` changes nothing, as in the original.

        Raises IndexError for an unknown id.
        """
        pieces = self._all_pieces if special else self._pieces
        if len(tokens) and min(tokens) < 0:
            raise IndexError(f"{min(tokens)} is not an id")
        text = b"".join([pieces[id] for id in tokens])
        return text[1:] if len(tokens) and tokens[0] == self._bos and text[:1] == b" " else text

    def encode(self, text: str, add_bos: bool = True, special: bool = True) -> list[int]:
        """Returns the ids of a text. Lone surrogates are left out."""
        return self.tokenize(text.encode("utf-8", errors="ignore"), add_bos, special)

    def decode(self, tokens: Sequence[int]) -> str:
        """Returns the text of ids, without special tokens. Bytes that are not UTF-8 are left out."""
        return self.detokenize(tokens).decode("utf-8", errors="ignore")
