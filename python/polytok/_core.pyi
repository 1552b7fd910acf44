"""The native engine and file readers; python/polytok is their public face."""

import os
from collections.abc import Callable, Iterable, Mapping
from typing import IO, Any, TypeAlias, final

import numpy as np
import numpy.typing as npt

from .arrow import ArrowColumn
from .spec import NormalizeStep, Spec, SplitStep, Vocab
from .train.bpe_learning import Rules, Units
from .values import IdArray, Ids, Text

__all__ = [
    "ArrowArray",
    "ArrowStream",
    "Checksum",
    "DecodeStream",
    "NativeFile",
    "SentenceCounter",
    "SpecialSet",
    "TextCounter",
    "Texts",
    "Tokenizer",
    "WordCounter",
    "Words",
    "bpe_alphabet",
    "bpe_derivations",
    "bpe_learn",
    "counts_description",
    "cut_json_lines",
    "cut_lines",
    "cut_separated",
    "end_of_texts",
    "gguf_byte_level",
    "gguf_byte_level_texts",
    "gguf_merge_lines",
    "gguf_merges",
    "gguf_read",
    "gguf_strings",
    "gguf_write_strings",
    "huggingface_bytes",
    "huggingface_merges",
    "huggingface_probe",
    "huggingface_read",
    "huggingface_rows",
    "huggingface_vocab",
    "huggingface_write",
    "llama2c_read",
    "llama2c_write",
    "minbpe_read",
    "native_write",
    "pattern_matches",
    "rank_file_read",
    "rank_file_write",
    "rwkv_read",
    "sentencepiece_charsmap",
    "sentencepiece_check",
    "sentencepiece_compile_rules",
    "sentencepiece_probe",
    "sentencepiece_read",
    "sentencepiece_write",
    "tekken_read",
    "tekken_vocab_range",
    "tekken_write",
    "train_longest_match",
    "train_sentencepiece",
    "training_room",
]

_Report: TypeAlias = Callable[[str, int, int], object]

_Columns: TypeAlias = tuple[
    bytes, npt.NDArray[np.uint32], npt.NDArray[np.uint32], npt.NDArray[np.float32], npt.NDArray[np.uint8]
]

_Spans: TypeAlias = tuple[
    IdArray, npt.NDArray[np.uint32], npt.NDArray[np.uint32], npt.NDArray[np.uint32], npt.NDArray[np.uint32]
]

_TokenColumns: TypeAlias = tuple[
    npt.NDArray[np.uint32],
    npt.NDArray[np.uint32],
    npt.NDArray[np.uint32],
    npt.NDArray[np.uint32],
    npt.NDArray[np.uint32],
    npt.NDArray[np.int32],
    list[tuple[int, bytes]],
]

_Numbers: TypeAlias = npt.NDArray[np.int64]

_Texts: TypeAlias = tuple[bytes, npt.NDArray[np.uint32]]

def gguf_read(
    data: npt.NDArray[np.uint8],
) -> tuple[int, bool, int, list[tuple[bytes, int, int, int, int, int]], int]: ...
def gguf_strings(value: bytes, count: int, big_endian: bool) -> _Texts: ...
def gguf_write_strings(texts: _Texts, big_endian: bool) -> bytes: ...
def gguf_byte_level(texts: _Texts, mapped: npt.NDArray[np.bool_]) -> tuple[_Texts, npt.NDArray[np.uint32]]: ...
def gguf_byte_level_texts(texts: _Texts, mapped: npt.NDArray[np.bool_]) -> _Texts: ...
def gguf_merges(tokens: _Texts, lines: _Texts) -> npt.NDArray[np.uint32]: ...
def gguf_merge_lines(tokens: _Texts, merges: npt.NDArray[np.uint32]) -> _Texts: ...

_HuggingFaceColumns: TypeAlias = tuple[
    bytes,
    npt.NDArray[np.uint32],
    npt.NDArray[np.uint32],
    npt.NDArray[np.float32] | npt.NDArray[np.float64],
    npt.NDArray[np.uint8],
]
_Merges: TypeAlias = npt.NDArray[np.uint32]

def huggingface_probe(data: bytes) -> None: ...
def huggingface_read(
    data: bytes,
) -> tuple[_HuggingFaceColumns, _Merges | None, bool, npt.NDArray[np.float64] | None, int, str]: ...
def huggingface_vocab(data: bytes) -> tuple[_HuggingFaceColumns, int]: ...
def huggingface_merges(data: bytes, vocab: Vocab) -> _Merges: ...
def huggingface_bytes(vocab: Vocab, merges: _Merges | None) -> tuple[_HuggingFaceColumns, bool] | None: ...
def huggingface_rows(vocab: Vocab, texts: list[bytes]) -> list[int | None]: ...
def huggingface_write(
    vocab: Vocab,
    merges: _Merges | None,
    exact_scores: npt.NDArray[np.float64] | None,
    byte_level: bool,
    pairs: bool,
    indent: int,
) -> tuple[str, str]: ...
def sentencepiece_probe(data: bytes) -> None: ...
def sentencepiece_read(data: bytes) -> tuple[_Columns, list[bytes]]: ...
def sentencepiece_write(vocab: Vocab, details: bytes) -> bytes: ...
def sentencepiece_check(vocab: Vocab, model_type: int, byte_fallback: bool, line: str) -> None: ...
def llama2c_read(data: bytes) -> _Columns: ...
def llama2c_write(vocab: Vocab) -> bytes: ...
def rwkv_read(data: bytes) -> _Columns: ...
def minbpe_read(data: bytes, first_line: int, cap: int) -> tuple[npt.NDArray[np.uint32], _Columns]: ...
def rank_file_read(data: bytes) -> _Columns: ...
def rank_file_write(vocab: Vocab) -> bytes: ...
def counts_description(file: IO[bytes]) -> str: ...
def bpe_derivations(
    vocab: Vocab, priority: str, merges: npt.NDArray[np.uint32] | None, symbols: str, reserved: bool
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32], npt.NDArray[np.uint8]]: ...
def bpe_alphabet(
    words: WordCounter, units: Units, special: list[str], initial: list[str], limit: int | None
) -> list[bytes]: ...
def bpe_learn(
    words: WordCounter,
    units: Units,
    initial: list[bytes],
    rules: Rules,
    progress: Callable[[str, int, int], object] | None,
    each: Callable[[int, int, int, int, int, bytes, int], object] | None,
) -> tuple[
    bytes,
    npt.NDArray[np.uint32],
    npt.NDArray[np.uint32],
    npt.NDArray[np.uint64],
    npt.NDArray[np.uint32],
    bool,
]: ...
def tekken_vocab_range(data: bytes) -> tuple[int, int]: ...
def tekken_read(
    vocab: bytes, live: int, first_id: int
) -> tuple[_Columns, list[tuple[int, str | None]], tuple[int, int] | None]: ...
def tekken_write(vocab: Vocab, odd_texts: list[tuple[int, str | None]], layout: list[str], ascii: bool) -> bytes: ...
def native_write(spec: Spec, sections: list[tuple[str, bytes]], fingerprint: bytes) -> bytes: ...
def pattern_matches(pattern: str, texts: list[bytes]) -> list[bool]: ...
def training_room(limit: int) -> int: ...
def train_longest_match(
    words: Words,
    entries: int,
    chars: int,
    bytes: int,
    min_count: int | None,
    parts_of_chars: bool,
    forced: list[bytes],
    threads: int,
    room: int | None,
    report: _Report | None,
) -> tuple[list[bytes], int]: ...

@final
class Checksum:
    """XXH3 of 128 bits, of bytes that come in parts; polytok.corpus.write.checksum is that of a file."""

    def __new__(cls) -> Checksum: ...
    def update(self, part: npt.NDArray[np.uint8]) -> None: ...
    def hex(self) -> str: ...

@final
class NativeFile:
    """A file of polytok's own format, mapped or copied; polytok.formats.ptok is its reader."""

    @staticmethod
    def open(path: str | os.PathLike[str]) -> NativeFile: ...
    @staticmethod
    def copy(data: bytes) -> NativeFile: ...
    def section(self, name: str) -> bytes | None: ...
    def has_tables(self) -> bool: ...
    def fingerprint(self) -> bytes: ...
    def compile(self, outline: Spec) -> Tokenizer: ...

@final
class SpecialSet:
    """A set of special tokens, ready to be searched for."""

@final
class Tokenizer:
    """A compiled tokenizer; polytok.Tokenizer is its public face."""

    cache_limit: int
    @property
    def cache_bytes(self) -> int: ...
    def clear_cache(self) -> None: ...
    def __new__(cls, spec: Spec) -> Tokenizer: ...
    def special_set(self, texts: set[bytes]) -> SpecialSet: ...
    def refused_set(self, texts: set[bytes]) -> SpecialSet: ...
    def special_tokens(self) -> list[tuple[bytes, int]]: ...
    def encode(
        self, text: Text, add_special: bool, special: SpecialSet | None = None, reject: SpecialSet | None = None
    ) -> list[int]: ...
    def encode_array(
        self, text: Text, add_special: bool, special: SpecialSet | None = None, reject: SpecialSet | None = None
    ) -> IdArray: ...
    def encode_batch(
        self,
        texts: list[Text],
        threads: int,
        add_special: bool,
        special: SpecialSet | None = None,
        reject: SpecialSet | None = None,
    ) -> tuple[IdArray, npt.NDArray[np.int64]]: ...
    def encode_texts(
        self,
        texts: Texts,
        add_special: bool,
        special: SpecialSet | None,
        reject: SpecialSet | None,
        threads: int,
        begin: int | None = None,
        end: int | None = None,
    ) -> tuple[IdArray, _Numbers]: ...
    def encode_arrow(
        self,
        column: ArrowColumn,
        add_special: bool,
        special: SpecialSet | None,
        reject: SpecialSet | None,
        threads: int,
    ) -> ArrowColumn: ...
    def count_arrow(
        self,
        column: ArrowColumn,
        add_special: bool,
        special: SpecialSet | None,
        reject: SpecialSet | None,
        threads: int,
    ) -> ArrowColumn: ...
    def count(
        self, text: Text, add_special: bool, special: SpecialSet | None = None, reject: SpecialSet | None = None
    ) -> int: ...
    def tokens(
        self, text: Text, add_special: bool, special: SpecialSet | None = None, reject: SpecialSet | None = None
    ) -> list[tuple[int, bytes, int, int, int, int]]: ...
    def spans(
        self, text: Text, add_special: bool, special: SpecialSet | None = None, reject: SpecialSet | None = None
    ) -> _Spans: ...
    def token_columns(
        self, text: Text, add_special: bool, special: SpecialSet | None = None, reject: SpecialSet | None = None
    ) -> _TokenColumns: ...
    def nbest(self, text: Text, n: int) -> list[tuple[list[int], float]]: ...
    def sample(self, text: Text, nbest_size: int, alpha: float, seed: int) -> list[int]: ...
    def sample_with_score(
        self,
        text: Text,
        num_samples: int,
        alpha: float,
        without_replacement: bool,
        include_best: bool,
        seed: int,
    ) -> list[tuple[list[int], float]]: ...
    def entropy(self, text: Text, alpha: float) -> float: ...
    def decode_bytes(self, ids: Ids, skip_special: bool) -> bytes: ...
    def decode(self, ids: Ids, skip_special: bool, errors: str) -> str: ...
    def decode_batch(self, rows: Iterable[Ids], skip_special: bool, errors: str) -> list[str]: ...
    def stream(self, skip_special: bool) -> DecodeStream: ...
    def token_bytes(self, id: int) -> bytes: ...
    def id_of(self, piece: bytes) -> int | None: ...
    def max_id(self) -> int | None: ...

@final
class ArrowArray:
    """An array that others read; python/polytok/arrow.py."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...
    def __arrow_c_schema__(self) -> object: ...
    def __len__(self) -> int: ...

@final
class ArrowStream:
    """Arrays of one type that others read, in chunks."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    def __len__(self) -> int: ...

@final
class Texts:
    """A column of texts in one buffer that is shared; none of them is an object until it is asked for.

    ``starts`` and ``ends`` are where the texts lie in the buffer, ``places`` where the record of each begins in what it
    was cut from; ``valid`` is False for null texts, or None if there are none. A null text has no ids, and is empty as
    bytes.
    """

    @staticmethod
    def of_list(texts: list[Text]) -> Texts: ...
    @staticmethod
    def of_arrow(object: ArrowColumn) -> Texts: ...
    @staticmethod
    def whole(data: bytes) -> Texts: ...
    @property
    def starts(self) -> _Numbers: ...
    @property
    def ends(self) -> _Numbers: ...
    @property
    def places(self) -> _Numbers: ...
    @property
    def valid(self) -> npt.NDArray[np.bool_] | None: ...
    @property
    def nbytes(self) -> int: ...
    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> bytes: ...
    def to_list(self) -> list[bytes | None]: ...
    def take(self, rows: _Numbers) -> Texts: ...
    def checked(self, invalid: str) -> tuple[Texts, _Numbers]: ...

def end_of_texts(data: bytes, start: int, separator: bytes, texts: int) -> int: ...
def cut_lines(data: bytes, is_last: bool) -> tuple[Texts, int]: ...
def cut_separated(data: bytes, separator: bytes, is_last: bool) -> tuple[Texts, int]: ...
def cut_json_lines(data: bytes, path: list[str], is_last: bool) -> tuple[Texts, int, list[tuple[int, str]]]: ...

@final
class DecodeStream:
    """A decoding that is fed id by id."""

    def push(self, ids: int | Ids) -> bytes: ...
    def finish(self) -> bytes: ...

@final
class TextCounter:
    def __new__(
        cls,
        normalize: Iterable[NormalizeStep],
        split: Iterable[SplitStep],
        special: list[bytes],
        threads: int,
        limit: tuple[int, str] | None,
    ) -> TextCounter: ...
    def push(self, texts: list[bytes]) -> None: ...
    def push_part(self, part: bytes, is_last: bool) -> None: ...
    def finish(self) -> WordCounter: ...

@final
class WordCounter:
    def __new__(cls, limit: tuple[int, str] | None) -> WordCounter: ...
    def add(self, words: list[tuple[bytes, int]]) -> None: ...
    def read(self, file: IO[bytes], progress: _Report | None) -> str: ...
    def write(self, description: str, file: IO[bytes], progress: _Report | None) -> None: ...
    def words(self, order: str, progress: _Report | None, room: int | None = None) -> Words: ...

@final
class SentenceCounter:
    def __new__(cls, model: str, options: Mapping[str, Any], limit: tuple[int, str] | None) -> SentenceCounter: ...
    def push(self, texts: list[bytes]) -> None: ...
    def skipped(self) -> tuple[int, int]: ...
    def finish(self) -> WordCounter: ...

def train_sentencepiece(
    model: str,
    counted: WordCounter,
    options: Mapping[str, Any],
    most: int,
    *,
    keep: bool,
    room: int | None,
    fit: Mapping[str, Any] | None,
    progress: _Report | None,
) -> tuple[list[bytes], npt.NDArray[np.float32]]: ...
def sentencepiece_charsmap(name: str, line: str) -> bytes: ...
def sentencepiece_compile_rules(file: str) -> bytes: ...

@final
class Words:
    def __new__(cls, pairs: list[tuple[bytes, int]]) -> Words: ...
    def __len__(self) -> int: ...
    def to_list(self) -> list[tuple[bytes, int]]: ...
