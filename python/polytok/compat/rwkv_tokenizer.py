"""rwkv_tokenizer.py of RWKV-LM, run by polytok: TRIE_TOKENIZER, with the same ids."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ..errors import EncodeError
from ..loading import load
from .face import Face

__all__ = ["TRIE_TOKENIZER"]

__polytok_face__ = Face("rwkv_tokenizer", ("1.0",))


class TRIE_TOKENIZER:
    """The tokenizer of a file such as rwkv_vocab_v20230424.txt."""

    def __init__(self, file_name: str) -> None:
        self._tokenizer = load(Path(file_name))
        if self._tokenizer.spec.origin.format != "rwkv":
            raise AssertionError(f"{file_name!r} is not a vocabulary of RWKV: polytok.load reads it")
        vocab = self._tokenizer.spec.vocab
        self.idx2token: dict[int, bytes] = dict(zip(vocab.ids.tolist(), vocab.pieces(), strict=True))
        self.token2idx: dict[bytes, int] = {token: idx for idx, token in self.idx2token.items()}

    def encodeBytes(self, src: bytes) -> list[int]:
        """Returns the ids of bytes. Raises AssertionError for a byte that begins no entry."""
        try:
            return self._tokenizer.encode(src)
        except EncodeError as error:
            raise AssertionError(str(error)) from error

    def decodeBytes(self, tokens: Iterable[int]) -> bytes:
        """Returns the bytes of ids. Raises KeyError for an unknown id."""
        return b"".join(map(self.idx2token.__getitem__, tokens))

    def encode(self, src: str) -> list[int]:
        """Returns the ids of a text."""
        return self.encodeBytes(src.encode("utf-8"))

    def decode(self, tokens: Iterable[int]) -> str:
        """Returns the text of ids; U+FFFD if an id is unknown or the bytes are not UTF-8."""
        try:
            return self.decodeBytes(tokens).decode("utf-8")
        except (KeyError, UnicodeDecodeError):
            return "\ufffd"

    def printTokens(self, tokens: Iterable[int]) -> None:
        """Prints each entry with its id."""
        for idx in tokens:
            token = self.idx2token[idx]
            try:
                shown = repr(token.decode("utf-8"))
            except UnicodeDecodeError:
                shown = repr(token)
            print(f"{shown}{idx}", end=" ")
        print()
