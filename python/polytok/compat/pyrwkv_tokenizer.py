"""pyrwkv_tokenizer, run by polytok: RWKVTokenizer, with the same ids.

The original contains RWKV's vocabulary; polytok contains no vocabulary of others. Without ``vocab_filepath``, the file
of the original is read where this package is installed.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.machinery import PathFinder
from operator import index
from pathlib import Path

from ..errors import TokenIdError
from ..loading import load
from ..tokenizer import Tokenizer
from .face import Face

__all__ = ["RWKVTokenizer", "WorldTokenizer"]

__version__ = "0.9.1"
__polytok_face__ = Face("pyrwkv_tokenizer", (__version__,), distribution="pyrwkv-tokenizer")

_ID_LIMIT = 1 << 16
_BINARY = "Binary string (TODO)"
_VOCABULARY = "rwkv_vocab_v20230424.txt"


class WorldTokenizer:
    """The tokenizer of a file such as rwkv_vocab_v20230424.txt."""

    def __init__(self, filename: str | os.PathLike[str]) -> None:
        tokenizer = load(Path(filename))
        if tokenizer.spec.origin.format != "rwkv":
            raise ValueError(f"{str(filename)!r} is not a vocabulary of RWKV: polytok.load reads it")
        self.__setstate__(tokenizer)

    def __getstate__(self) -> Tokenizer:
        return self._tokenizer

    def __setstate__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        # The methods of polytok.Tokenizer resolve options, which takes as long as encoding a short text.
        self._encode = tokenizer._core.encode
        self._decode_bytes = tokenizer._core.decode_bytes

    def encode(self, word: str) -> list[int]:
        """Returns the ids of a text."""
        if word.__class__ is str and word.isascii():
            return self._encode(word)
        _check_text("word", word)
        return self._encode(word.encode("utf-8"))

    def encode_batch(self, word_list: Sequence[str]) -> list[list[int]]:
        """Returns the ids of many texts, which are encoded in several threads."""
        _check_sequence("word_list", word_list)
        for word in word_list:
            _check_text("word_list", word)
        return self._tokenizer.encode_batch([word.encode("utf-8") for word in word_list]).to_list()

    def decode(self, vec: Sequence[int]) -> str:
        """Returns the text of ids; id 0 is U+0000.

        Raises UnicodeDecodeError for bytes that are not UTF-8 and IndexError for an unknown id, where the original
        stops by a panic.
        """
        if vec.__class__ is not list:
            _check_sequence("vec", vec)
        vec = list(vec) if isinstance(vec, bytes) else vec
        try:
            if 0 not in vec:
                return self._decode_bytes(vec).decode("utf-8")
            return b"".join([self._decode_bytes([id]) if id else b"\0" for id in vec]).decode("utf-8")
        except (TokenIdError, TypeError):
            _check_ids("vec", vec)
            raise

    def vocab_size(self) -> int:
        """Returns the largest id plus one."""
        return self._tokenizer.vocab_size

    def get_vocab(self) -> dict[str, int]:
        """Returns the entries and their ids. The entries that are not UTF-8 have one name, and the id of the last."""
        vocab = self._tokenizer.spec.vocab
        entries: dict[str, int] = {}
        for id, piece in zip(vocab.ids.tolist(), vocab.pieces(), strict=True):
            try:
                entries[piece.decode("utf-8")] = id
            except UnicodeDecodeError:
                entries[_BINARY] = id
        return entries


class RWKVTokenizer:
    """pyrwkv_tokenizer.RWKVTokenizer."""

    def __init__(self, name: str = "WorldTokenizer", vocab_filepath: str | os.PathLike[str] | None = None) -> None:
        if name != "WorldTokenizer":
            raise Exception(f"The {name} is not supported.")
        self.vocab_filepath = _original_file() if vocab_filepath is None else vocab_filepath
        self.tokenizer = WorldTokenizer(self.vocab_filepath)

    def encode(self, text: str) -> list[int]:
        """Returns the ids of a text."""
        if text.__class__ is str and text.isascii():
            return self.tokenizer._encode(text)
        return self.tokenizer.encode(text)

    def encode_batch(self, text_list: Sequence[str]) -> list[list[int]]:
        """Returns the ids of many texts."""
        return self.tokenizer.encode_batch(text_list)

    def decode(self, tokens_ids: Sequence[int]) -> str:
        """Returns the text of ids: `WorldTokenizer.decode`."""
        if tokens_ids.__class__ is list and 0 not in tokens_ids:
            try:
                return self.tokenizer._decode_bytes(tokens_ids).decode()
            except (TokenIdError, TypeError):
                pass  # the other method raises the original's errors
        return self.tokenizer.decode(tokens_ids)

    def vocab_size(self) -> int:
        """Returns the largest id plus one."""
        return self.tokenizer.vocab_size()

    def get_vocab(self) -> dict[str, int]:
        """Returns the entries and their ids: `WorldTokenizer.get_vocab`."""
        return self.tokenizer.get_vocab()


def _original_file() -> str:
    spec = PathFinder.find_spec("pyrwkv_tokenizer")
    for folder in (spec.submodule_search_locations if spec is not None else None) or ():
        if os.path.exists(path := os.path.join(folder, _VOCABULARY)):
            return path
    raise FileNotFoundError(f"polytok does not contain {_VOCABULARY}: pass its path, vocab_filepath=...")


def _check_text(name: str, text: object) -> None:
    if not isinstance(text, str):
        raise TypeError(f"argument '{name}': '{type(text).__name__}' object cannot be converted to 'PyString'")


def _check_sequence(name: str, values: object) -> None:
    if isinstance(values, str):
        raise TypeError(f"argument '{name}': Can't extract `str` to `Vec`")
    if isinstance(values, dict) or not hasattr(values, "__len__") or not hasattr(values, "__getitem__"):
        raise TypeError(f"argument '{name}': '{type(values).__name__}' object cannot be converted to 'Sequence'")


def _check_ids(name: str, ids: Sequence[int]) -> None:
    """Raises the original's errors for values that are no ids of 16 bits."""
    for id in ids:
        try:
            is_id = 0 <= index(id) < _ID_LIMIT
        except TypeError as error:
            raise TypeError(f"argument '{name}': {error}") from None
        if not is_id:
            raise OverflowError("out of range integral type conversion attempted")
