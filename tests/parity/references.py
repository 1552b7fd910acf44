"""The reference programs behind one interface: texts in, what they make of them out."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Protocol

import pyrwkv_tokenizer
import regex
import sentencepiece
import tiktoken
import tokenizers
from sentencepiece import sentencepiece_pb2

from polytok import reference
from polytok.errors import EncodeError
from polytok.reference import gguf, llama_cpp
from polytok.reference.llama_cpp_unicode import code_points
from polytok.spec import Bpe, Spec
from texts import is_utf8

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Expected:
    """What a reference makes of a text; None where it does not say. ``error`` is set if it refuses the text."""

    ids: list[int]
    pieces: list[bytes] | None = None
    spans: list[Span] | None = None
    chars: list[Span] | None = None
    char_starts: list[int] | None = None
    error: str | None = None


class Reference(Protocol):
    """A program to compare with."""

    @property
    def name(self) -> str: ...
    def accepts(self, text: bytes) -> bool: ...
    def encode(self, texts: Sequence[bytes]) -> list[Expected]: ...
    def decode(self, rows: Sequence[list[int]]) -> list[bytes] | None: ...


def side_by_side(pieces: Sequence[bytes]) -> list[Span]:
    """The spans of pieces that lie one after the other."""
    return list(pairwise(accumulate(map(len, pieces), initial=0)))


class SentencePiece:
    """The sentencepiece package."""

    name = f"sentencepiece {sentencepiece.__version__}"

    def __init__(self, model: bytes) -> None:
        self.processor = sentencepiece.SentencePieceProcessor(model_proto=model)

    def accepts(self, text: bytes) -> bool:
        return True

    def encode(self, texts: Sequence[bytes]) -> list[Expected]:
        try:
            answers = self.processor.encode(list(texts), return_type="serialized_proto", num_threads=1)
        except Exception as error:
            if len(texts) == 1:
                return [Expected([], error=str(error))]
            return [self.encode([text])[0] for text in texts]
        return [self._expected(answer) for answer in answers]

    def _expected(self, answer: bytes) -> Expected:
        parsed = sentencepiece_pb2.SentencePieceText.FromString(answer)
        return Expected(
            [piece.id for piece in parsed.pieces],
            [piece.piece.encode() for piece in parsed.pieces],
            [(piece.begin, piece.end) for piece in parsed.pieces],
        )

    def decode(self, rows: Sequence[list[int]]) -> list[bytes] | None:
        return [text.encode() for text in self.processor.decode(list(rows))]


class SentencePieceCharacters(SentencePiece):
    """The same with character offsets, which it gives for ``str``."""

    name = f"{SentencePiece.name}, offset_mapping"
    accepts = staticmethod(is_utf8)

    def encode(self, texts: Sequence[bytes]) -> list[Expected]:
        strings = [text.decode() for text in texts]
        answers = self.processor.encode(strings, return_type="offset_mapping", num_threads=1)
        return [
            Expected(answer["ids"], [piece.encode() for piece in answer["pieces"]], chars=list(answer["offsets"]))
            for answer in answers
        ]

    def decode(self, rows: Sequence[list[int]]) -> None:
        return None


class SentencePieceForLlama2c(SentencePiece):
    """llama2.c's vocabulary is Llama 2's; on text without U+2581 and NUL the two programs agree."""

    def accepts(self, text: bytes) -> bool:
        return is_utf8(text) and "▁".encode() not in text and b"\0" not in text

    def encode(self, texts: Sequence[bytes]) -> list[Expected]:
        # The pieces are spelled differently, and llama2.c itself knows no offsets.
        return [Expected(each.ids, error=each.error) for each in super().encode(texts)]

    def decode(self, rows: Sequence[list[int]]) -> None:
        return None


class Tiktoken:
    """The tiktoken package: ``encode_ordinary`` for text, ``_encode_bytes`` for bytes that are none."""

    name = f"tiktoken {tiktoken.__version__}"

    def __init__(self, encoding: tiktoken.Encoding) -> None:
        self.encoding = encoding

    def accepts(self, text: bytes) -> bool:
        return True

    def encode(self, texts: Sequence[bytes]) -> list[Expected]:
        return [self._one(text) for text in texts]

    def _one(self, text: bytes) -> Expected:
        if not is_utf8(text):
            ids = self.encoding._encode_bytes(text)
            pieces = self.encoding.decode_tokens_bytes(ids)
            return Expected(ids, pieces, side_by_side(pieces))
        ids = self.encoding.encode_ordinary(text.decode())
        pieces = self.encoding.decode_tokens_bytes(ids)
        return Expected(ids, pieces, side_by_side(pieces), char_starts=self.encoding.decode_with_offsets(ids)[1])

    def decode(self, rows: Sequence[list[int]]) -> list[bytes]:
        return [self.encoding.decode_bytes(ids) for ids in rows]


class HuggingFace:
    """The tokenizers package; special tokens are text, as polytok has it where none is allowed."""

    name = f"tokenizers {tokenizers.__version__}"
    accepts = staticmethod(is_utf8)

    def __init__(self, document: bytes, spec: Spec) -> None:
        self.tokenizer = tokenizers.Tokenizer.from_str(document.decode())
        self.unk = spec.names.get("unk")
        is_bytes = isinstance(spec.model, Bpe) and spec.model.symbols == "bytes"
        self.as_piece = functools.cache(_bytes_of_visible if is_bytes else str.encode)

    def encode(self, texts: Sequence[bytes]) -> list[Expected]:
        self.tokenizer.encode_special_tokens = True
        try:
            answers = self.tokenizer.encode_batch([text.decode() for text in texts], add_special_tokens=False)
        finally:
            self.tokenizer.encode_special_tokens = False
        return [Expected(answer.ids, self._pieces(answer), chars=answer.offsets) for answer in answers]

    def _pieces(self, answer: tokenizers.Encoding) -> list[bytes] | None:
        """The tokens as polytok has them; not where unknown text or an added token stands among them."""
        if self.unk in answer.ids or not self.added.isdisjoint(answer.ids):
            return None
        return list(map(self.as_piece, answer.tokens))

    @functools.cached_property
    def added(self) -> frozenset[int]:
        return frozenset(self.tokenizer.get_added_tokens_decoder())

    def marked(self, text: str) -> list[int]:
        """With special tokens recognised, all of them."""
        return list(self.tokenizer.encode(text, add_special_tokens=False).ids)

    def decode(self, rows: Sequence[list[int]]) -> list[bytes]:
        return [self.tokenizer.decode(row, skip_special_tokens=False).encode() for row in rows]


def _bytes_of_visible(token: str) -> bytes:
    return token.translate(_byte_characters()).encode("latin-1")


@functools.cache
def _byte_characters() -> dict[int, str]:
    """GPT-2's table of visible bytes, as characters of the bytes' numbers."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = sorted(set(range(256)).difference(printable))
    return {256 + place: chr(byte) for place, byte in enumerate(others)}


class PyRwkv:
    """The pyrwkv-tokenizer package, which carries the vocabulary itself."""

    name = "pyrwkv_tokenizer"
    accepts = staticmethod(is_utf8)

    def __init__(self) -> None:
        self.tokenizer = pyrwkv_tokenizer.RWKVTokenizer()

    def encode(self, texts: Sequence[bytes]) -> list[Expected]:
        return [Expected(self.tokenizer.encode(text.decode())) for text in texts]

    def decode(self, rows: Sequence[list[int]]) -> None:
        return None


@functools.cache
def newer_characters() -> frozenset[str]:
    """Characters that the regex package, in which the twin splits, knows and tiktoken's tables do not know yet."""
    everything = "".join(map(chr, (*range(0xD800), *range(0xE000, 0x110000))))
    singles = {bytes([byte]): byte for byte in range(256)}
    unassigned = tiktoken.Encoding("unassigned", pat_str=r"\p{Cn}", mergeable_ranks=singles, special_tokens={})
    return frozenset(regex.findall(r"\P{Cn}", bytes(unassigned.encode_ordinary(everything)).decode()))


class Twin:
    """polytok.reference: each algorithm in plain Python."""

    name = "polytok.reference"

    def __init__(self, spec: Spec, longest: int = 1 << 20) -> None:
        self.spec = spec
        self.longest = longest

    def accepts(self, text: bytes) -> bool:
        if self.spec.split and not newer_characters().isdisjoint(text.decode(errors="ignore")):
            return False
        return len(text) <= self.longest

    def encode(self, texts: Sequence[bytes]) -> list[Expected]:
        return [self._one(text) for text in texts]

    def _one(self, text: bytes) -> Expected:
        try:
            tokens = reference.tokens(self.spec, text)
        except EncodeError as error:
            return Expected([], error=str(error))
        return Expected(
            [token.id for token in tokens],
            [token.piece for token in tokens],
            [(token.start, token.end) for token in tokens],
        )

    def decode(self, rows: Sequence[list[int]]) -> list[bytes]:
        return [reference.decode_bytes(self.spec, ids) for ids in rows]


class LlamaCppTwin:
    """polytok.reference.llama_cpp: llama.cpp's tokenizer straight from a GGUF file's metadata."""

    name = "llama.cpp (polytok.reference)"

    def __init__(self, data: bytes, longest: int) -> None:
        self.tokenizer = llama_cpp.LlamaCpp(gguf.parse(data))
        self.longest = longest

    def accepts(self, text: bytes) -> bool:
        codes = code_points(text)
        return len(text) <= self.longest and not any(0xD800 <= code < 0xE000 or code > 0x10FFFF for code in codes)

    def encode(self, texts: Sequence[bytes]) -> list[Expected]:
        return [Expected(self.tokenizer.tokenize(text)) for text in texts]

    def decode(self, rows: Sequence[list[int]]) -> list[bytes]:
        return [self.tokenizer.detokenize(ids) for ids in rows]
